"""The pages of the workbench, one file each: routes, and the types of requests and answers.

jobs.py     what runs in the background
data.py     the files of the workspace; columns, kinds, reasons and pictures of a table
model.py    kinds of models, fitting, comparing, settings changed live
costs.py    posteriors as bytes, decision files, what decisions cost
capacity.py  at most N rows in an action
explain.py  why a case is answered as it is, and what would change that
trust.py    whether posteriors are calibrated
label.py    one case after the other, with a journal
network.py  beliefs under evidence, reasons for them, effects of interventions
network_changes.py  edits and learning of networks
diagram.py  decisions and utilities, solved
"""
