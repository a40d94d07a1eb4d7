"""Description length: how many bits a model and the rows under it take, and what follows for choosing.

bits.py          bits part by part; the codes of counts, normalised maximum likelihood among them; cuts that pay
lengths.py       bits of models, and the model of fewest bits
pruning.py       the pruning of a tree of questions that takes the fewest bits
tree.py          a decision tree with the bits of each node, and its picture
comparing.py     several models of one table, by bits and by rows left out
"""

from bayeswise.models.description_length.bits import DescriptionLength, Part, codes_of, cut_points, log_regret, nml_bits
from bayeswise.models.description_length.lengths import CodedFamily, coded_family, description_length, select
from bayeswise.models.description_length.tree import DescribedTree, TreeNode

__all__ = [
    "CodedFamily",
    "DescribedTree",
    "DescriptionLength",
    "Part",
    "TreeNode",
    "coded_family",
    "codes_of",
    "cut_points",
    "description_length",
    "log_regret",
    "nml_bits",
    "select",
]
