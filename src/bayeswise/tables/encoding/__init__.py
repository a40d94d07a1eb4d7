"""From chunks of a source to batches: the border behind which every cell is a number or a code.

encoder.py      a schema that encodes any source of its columns, pass by pass
plan.py         where the columns of a schema are in a source
coders.py       what is remembered from sweep to sweep; integer categories as codes, by tables instead of hashes
row_weights.py  weights of rows, checked
one_row.py      one row as a mapping, without opening a source, or as a person types it
"""
