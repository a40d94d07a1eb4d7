"""One file for each verb, in a room by what it is about; a folder where a verb has verbs or parts of its own.

models/     a table, its model, predictions, and what becomes of the model
decisions/  costs, decisions, and what they lead to
teaching/   small problems, step by step
network/    belief networks
diagram/    influence diagrams
label/      a labelling session
serve.py    the workbench in the browser, and the service

`cli/app.py` has the table of verbs, and says in which room each is.
"""
