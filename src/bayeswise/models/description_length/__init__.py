"""Description length: how many bits a model and the rows under it take, and what follows for choosing.

bits.py          bits part by part; the codes of counts
lengths.py       bits of models, and the model of fewest bits
multinomial.py   normalised maximum likelihood of counts
discretising.py  cuts of a number column that pay
comparing.py     several models of one table, by bits and by rows left out
sharing.py       several models from one sweep
kept_rows.py     some rows, kept while a table is swept
"""

from bayeswise.models.description_length.bits import DescriptionLength, Part
from bayeswise.models.description_length.discretising import codes_of, cut_points
from bayeswise.models.description_length.lengths import CodedFamily, coded_family, description_length, select
from bayeswise.models.description_length.multinomial import log_regret, nml_bits

__all__ = [
    "CodedFamily",
    "DescriptionLength",
    "Part",
    "coded_family",
    "codes_of",
    "cut_points",
    "description_length",
    "log_regret",
    "nml_bits",
    "select",
]
