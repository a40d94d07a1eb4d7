"""Any table: a source, its schema (decided once, frozen, explainable) and the stream of batches it becomes.

source.py      any table as one interface, swept in chunks of rows
sources/       a reader for each kind of source
schema/        what each column means, and why
encoding/      rows become codes and numbers
batch.py       what statistics and models see of some rows
partitions.py  tables whose rows stay on other machines, and what a pass over them finds
"""
