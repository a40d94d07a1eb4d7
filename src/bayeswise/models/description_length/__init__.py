"""Description length: how many bits a model and the rows under it take, and what follows for choosing.

bits.py          bits part by part; the codes of counts, normalised maximum likelihood among them; cuts that pay
lengths.py       bits of models, and the model of fewest bits
tree.py          a tree of questions with the bits of each node, its cheapest pruning, and its picture
comparing.py     several models of one table, by bits and by rows left out
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeswise.foundation.late import late_names

if TYPE_CHECKING:
    from bayeswise.models.description_length.bits import DescriptionLength as DescriptionLength
    from bayeswise.models.description_length.bits import Part as Part
    from bayeswise.models.description_length.bits import codes_of as codes_of
    from bayeswise.models.description_length.bits import cut_points as cut_points
    from bayeswise.models.description_length.bits import log_regret as log_regret
    from bayeswise.models.description_length.bits import nml_bits as nml_bits
    from bayeswise.models.description_length.lengths import CodedFamily as CodedFamily
    from bayeswise.models.description_length.lengths import coded_family as coded_family
    from bayeswise.models.description_length.lengths import description_length as description_length
    from bayeswise.models.description_length.lengths import select as select
    from bayeswise.models.description_length.tree import DescribedTree as DescribedTree
    from bayeswise.models.description_length.tree import TreeNode as TreeNode

__all__, __getattr__, __dir__ = late_names()
