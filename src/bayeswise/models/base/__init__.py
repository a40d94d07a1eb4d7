"""What models share, whatever their kind: three classes, each with the one before it, and what they answer with.

table_model.py        what every model over a table does
probability_model.py  what every model does that answers with probabilities of classes; how many parameters
planes.py             a model over two of its columns
classifier.py         what every classifier made of exact statistics does
facts.py              what a model has learned, as plain data
spread_rows.py        answers about rows that are spread over machines
"""
