"""Pictures of accounts: the data in the constructor, `plot(ax)` draws. matplotlib is loaded only then.

waterfall.py        from the prior log-odds to the posterior log-odds
three_panel.py      prior x contributions = posterior
nomogram.py         points as rulers
class_densities.py  p(x | class), weighted and as a posterior over one column; reducible and irreducible error of a rule
regions.py          classes or actions over two columns, alone or side by side
twins.py            a generative model beside its discriminative twin
"""

from bayeswise.explanations.plots.class_densities import BayesErrorDisplay, ClassDensityDisplay
from bayeswise.explanations.plots.nomogram import NomogramDisplay
from bayeswise.explanations.plots.regions import RegionDisplay, RegionsBesideDisplay
from bayeswise.explanations.plots.three_panel import ThreePanelDisplay
from bayeswise.explanations.plots.twins import TwinDisplay
from bayeswise.explanations.plots.waterfall import WaterfallDisplay

__all__ = [
    "BayesErrorDisplay",
    "ClassDensityDisplay",
    "NomogramDisplay",
    "RegionDisplay",
    "RegionsBesideDisplay",
    "ThreePanelDisplay",
    "TwinDisplay",
    "WaterfallDisplay",
]
