"""Verbs about a table and the model of it.

look.py     what the columns of a table are taken for
fit.py      from a table to a model file
predict.py  predictions beside each row
explain.py  why a model answers as it does
inspect.py  what a model file holds
export.py   a model as a SQL query or an ONNX graph
merge.py    the model of all rows from models of some
forget.py   a model without some rows
compare.py  models of a table by bits and by rows left out
"""
