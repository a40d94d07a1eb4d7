"""One file for each verb, a folder where a verb has verbs or parts of its own; `cli/app.py` has the table of them.

look.py           what the columns of a table are taken for
fit.py            from a table to a model file
predict.py        predictions beside each row
init_decision.py  a decision.toml to fill in
decide.py         the best action beside each row
check.py          what decisions cost on labelled rows
report.py         the same as a page
thresholds.py     the policy that costs imply
next_test.py      the empty column most worth its price
densities.py      classes along one column
explain.py        why a model answers as it does
inspect.py        what a model file holds
export.py         a model as a SQL query or an ONNX graph
merge.py          the model of all rows from models of some
forget.py         a model without some rows
compare.py        models of a table by bits and by rows left out
bayes.py          Bayes' rule, step by step
likelihood.py     the log-likelihood of a sample, its maximum and curvature
beliefs.py        a belief in a parameter, datum by datum
concept.py        combinations of levels that make up a class
network/          belief networks
diagram/          influence diagrams
label/            a labelling session
serve.py          the workbench in the browser, and the service
"""
