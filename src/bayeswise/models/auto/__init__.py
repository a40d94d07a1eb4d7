"""`model="auto"`: every model that applies, weighed by rows that it never saw.

inputs.py         what a member sees of a row: as it is, without texts, or as numbers with products of pairs
text_words.py     words of texts that separate the classes, as indicators; how much words count
boosted_trees.py  trees that add to log-odds, and what they add by column
boosting.py       trees that are grown, each of what those before it leave unexplained
extent.py         how large a table is, and what candidates need of it
candidates.py     the models that are tried, and in which order
durations.py      how long candidates take, for a time within which all must be done
left_out.py       what each candidate says of rows that it never saw
stacking.py       weights of posteriors that maximise the left-out log score, with a certificate
pooling.py        weights of logarithms, with a certificate: members that agree are surer together
weighing.py       pool, weights and calibration, chosen by left-out rows
learning.py       from a table to candidates that were tried, and the mixture of them
model.py          the mixture: answers, merges, forgets
explaining.py     the mixture's log-odds, split by column
"""

from __future__ import annotations

from bayeswise.models.auto.learning import learned
from bayeswise.models.auto.model import AutoModel, CandidateScore
from bayeswise.models.settings.auto import AutoSettings

__all__ = ["AutoModel", "AutoSettings", "CandidateScore", "learned"]
