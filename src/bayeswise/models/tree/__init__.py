"""Decision trees that are as large as their description is worth.

growing.py  from a table to a tree: rows as answers to questions, a full tree, its cheapest pruning
model.py    the fitted tree: the posterior of a row is that of its leaf, and each question on the path explains it

Questions are selected by all rows together, so that trees do not merge and do not forget: they are fitted again.
"""

from bayeswise.models.tree.model import TreeModel

__all__ = ["TreeModel"]
