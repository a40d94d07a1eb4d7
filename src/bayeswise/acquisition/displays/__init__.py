"""Pictures of learning by asking: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then."""

from bayeswise.acquisition.displays.learning_curve import LearningCurveDisplay

__all__ = ["LearningCurveDisplay"]
