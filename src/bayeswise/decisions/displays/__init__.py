"""Pictures of policies: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then."""

from bayeswise.decisions.displays.simplex import SimplexDisplay

__all__ = ["SimplexDisplay"]
