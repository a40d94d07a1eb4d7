"""Description length: how many bits a model and the rows under it take, and what follows for choosing.

lengths.py      bits of models part by part, and the model of fewest bits
comparing.py    several models of one table, by bits and by rows left out
multinomial.py  normalised maximum likelihood of counts      discretising.py   cuts of a number column that pay
"""

from bayeswise.models.description_length.discretising import codes_of, cut_points
from bayeswise.models.description_length.lengths import DescriptionLength, description_length, select
from bayeswise.models.description_length.multinomial import log_regret, nml_bits

__all__ = ["DescriptionLength", "codes_of", "cut_points", "description_length", "log_regret", "nml_bits", "select"]
