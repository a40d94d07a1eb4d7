"""Fitted models: frozen values made of a schema, settings and exact statistics, independent of scikit-learn.

registry.py            the kinds of models: names, learners, settings and files follow from it
settings/              every setting of every model, declared once
fitting.py             `bw.fit`, from any table to a model of any kind
base/                  what every model over a table does: answers, facts, learning by merging
from_table.py          look once, decide the schema, sweep once
row_order.py           an order that rows give themselves, and all of them as one batch in it
held_out.py            posteriors of rows with their state: as they are, leave-one-out, folds
relearning.py          learned rows under the model of the others
forgetting.py          which batches a model has forgotten
calibrated.py          a model with calibrated posteriors
averaging.py           several models instead of one
files.py               which types a model file may hold, by kind of model
naive_bayes/           columns that are independent given the class
averaged_naive_bayes/  the average over all naive Bayes structures
gaussian_bayes/        QDA to LDA
regression/            linear, generalised linear and logistic regression
hypotheses/            finite sets of hypotheses; concepts
tree/                  decision trees, pruned by bits
auto/                  all models, weighted by left-out rows
description_length/    bits of models, and what follows for choosing
"""
