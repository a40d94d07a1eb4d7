"""What each action costs in each state: named, checked once, then trusted.

costs.py          the table of actions and states
cost_cells.py     names and cells, and errors that name the cell
tables.py         costs from frames and files
expressions.py    costs that depend on the row, as formulas over its columns
warnings.py       actions that are never best, and other things that are probably not meant
number_costs.py   what choosing a number costs when another comes true
decision_file.py  one file for a decision
"""
