"""Pictures of accounts: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then."""

from bayeswise.explanations.plots.bayes_error import BayesErrorDisplay
from bayeswise.explanations.plots.densities import ClassDensityDisplay
from bayeswise.explanations.plots.nomogram import NomogramDisplay
from bayeswise.explanations.plots.regions import RegionDisplay
from bayeswise.explanations.plots.three_panel import ThreePanelDisplay
from bayeswise.explanations.plots.waterfall import WaterfallDisplay

__all__ = [
    "BayesErrorDisplay",
    "ClassDensityDisplay",
    "NomogramDisplay",
    "RegionDisplay",
    "ThreePanelDisplay",
    "WaterfallDisplay",
]
