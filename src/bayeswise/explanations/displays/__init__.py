"""Pictures of accounts: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then."""

from bayeswise.explanations.displays.bayes_error import BayesErrorDisplay
from bayeswise.explanations.displays.densities import ClassDensityDisplay
from bayeswise.explanations.displays.nomogram import NomogramDisplay
from bayeswise.explanations.displays.regions import RegionDisplay
from bayeswise.explanations.displays.three_panel import ThreePanelDisplay
from bayeswise.explanations.displays.waterfall import WaterfallDisplay

__all__ = [
    "BayesErrorDisplay",
    "ClassDensityDisplay",
    "NomogramDisplay",
    "RegionDisplay",
    "ThreePanelDisplay",
    "WaterfallDisplay",
]
