"""What each column of a table means: inferred in one pass, overridden by the user, then frozen.

inference.py        from a source to its schema
leaks.py            columns that give the target away
likenesses.py       cells that look like numbers, labels that differ by blanks or case, names that are numbers
profile.py          what one pass says about each column; which are known to be plain numbers without one
column_evidence.py  what a profile is evidence of; cells that are not numbers in number columns
kinds.py            the kind of a column and its reason; the first rule that applies decides
overrides.py        overrides by the user, which beat what was inferred
columns.py          what one column means; all of them as names and the few forms that they have
schema.py           the frozen result: columns, target and weight
labels.py           labels of states and levels, never silently merged
names.py            names of columns, and suggestions for mistyped ones
null_words.py       words that mean a missing value
notes.py            notes and advice on columns, all that was found as plain data, and how two schemas differ
"""
