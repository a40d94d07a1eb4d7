"""Models where the data is: SQL for databases, ONNX graphs for services without Python.

The score of a row is described once, as a tree of arithmetic over cells (`render/expression.py`), by one file
for each kind of model; the density of a number is written by its family. Two back-ends write the tree: sql.py and
onnx_graph.py.

row_inputs.py   the cells of a row that a score reads, and when a model would refuse the row
naive_bayes.py  naive Bayes, plain and averaged over structures
gaussian.py     Gaussian classes, missing cells integrated out
regression.py   logistic regression, and regressions of a number
networks.py     tan, aode, k-dependence and any other graph of columns
mixtures.py     calibrations, and mixtures of models
answers.py      the outputs for a row: a class, posteriors, an action and its expected cost
dialects.py     differences between databases
sql.py          the back-end that writes a SELECT, by sqlglot
onnx_graph.py   the back-end that writes an ONNX graph
"""
