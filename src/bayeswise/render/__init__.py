"""How values are shown, whatever they are about: nothing here knows a model, a posterior or a cost.

labels.py     labels that fit into a line, are aligned, and are suggested when mistyped
numbers.py    numbers and counts with four digits
fractions.py  numbers as they were typed, exactly, and fractions as text
plain.py      plain data for JSON and dataframes
terminal.py   wrapped lines, and terminals that lack some characters
theme.py      colours and labels of all matplotlib displays
svg.py        small charts in SVG without any package
graph/        directed graphs, laid out and drawn
"""
