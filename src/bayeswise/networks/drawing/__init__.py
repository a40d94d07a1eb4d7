"""Pictures of networks: layered, with beliefs in the nodes, as SVG or DOT; no other program is needed.

values.py                             what is drawn: nodes of any kind with their bars, and edges between them
layers.py crossings.py positions.py   on which line a node stands, in which order, and where
boxes.py layout.py                    the boxes and the curves between them
svg.py dot.py lettering.py            how they are written down
beliefs.py strengths.py               the picture of a belief network, its edges as wide as they are strong
"""

from __future__ import annotations

from bayeswise.networks.drawing.values import Bar, DrawnNode, Kind, Picture

__all__ = ["Bar", "DrawnNode", "Kind", "Picture"]
