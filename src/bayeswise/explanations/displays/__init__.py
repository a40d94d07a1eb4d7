"""Pictures of accounts: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then."""

from bayeswise.explanations.displays.nomogram import NomogramDisplay
from bayeswise.explanations.displays.three_panel import ThreePanelDisplay
from bayeswise.explanations.displays.waterfall import WaterfallDisplay

__all__ = ["NomogramDisplay", "ThreePanelDisplay", "WaterfallDisplay"]
