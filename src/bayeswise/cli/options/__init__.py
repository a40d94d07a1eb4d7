"""Options that several verbs have: their types and help for typer, and what they mean.

command.py       groups of options in the signature of a verb; --threads
reading.py       how tables and model files are read: kinds of columns, delimiter, encoding, progress
completion.py    what a shell offers after TAB: columns, classes, kinds of models, settings
pairs.py         words of the form NAME=VALUE, several values of one option
settings.py      settings of models, from their declarations; the groups of the help of `fit`
fitting.py       the request to `fit`
one_row.py       the row that `explain` is about
typed_sample.py  --data, --rows and --column: a sample of one number; families and priors with their parameters
costs.py         --costs, a decision file or a table of costs; --calibrate
"""
