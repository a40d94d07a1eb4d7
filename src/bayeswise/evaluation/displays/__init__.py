"""Pictures of evaluations: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then."""

from bayeswise.evaluation.displays.confusion import ConfusionDisplay
from bayeswise.evaluation.displays.costs import CostsDisplay
from bayeswise.evaluation.displays.curve import CurveDisplay
from bayeswise.evaluation.displays.reliability import ReliabilityDisplay

__all__ = ["ConfusionDisplay", "CostsDisplay", "CurveDisplay", "ReliabilityDisplay"]
