"""Any table: a source, its schema (decided once, frozen, explainable) and the stream of batches it becomes.

source.py, sources/              any table as columns, swept in chunks
profile.py                       what one pass tells about each column
evidence.py -> kinds.py          from counts to a kind and its reason; targets.py for the target
overrides.py, inference.py          what was asked for beats what was inferred; sight.py saves most of the work
notes.py, invalid values.py, leaks.py    what a reader should know about the rows
labels.py, label_types.py        labels that are never silently merged
schema.py, null_words.py         the frozen result, and the words for missing cells that it remembers
encoder.py, sweep.py, plan.py    rows to batches; coders.py, level_codes.py, words.py, weights.py for their cells
batch.py                         what statistics and models see
"""
