"""Pictures of risks and of what the answer depends on: the data in the constructor, `plot(ax)` draws.

matplotlib is loaded only then.
"""

from bayeswise.diagrams.displays.risk import RiskDisplay
from bayeswise.diagrams.displays.sensitivity import SensitivityDisplay
from bayeswise.diagrams.displays.tornado import TornadoDisplay

__all__ = ["RiskDisplay", "SensitivityDisplay", "TornadoDisplay"]
