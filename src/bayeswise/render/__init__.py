"""How values are shown, whatever they are about: nothing here knows a model, a posterior or a cost.

labels.py    labels that fit into a line, are aligned, and are suggested when mistyped
numbers.py   numbers, shares, intervals and counts for a reader; numbers as they were typed, exactly
plain.py     plain data for JSON and dataframes
terminal.py  aligned columns, bars, wrapped lines, and terminals that lack some characters
theme.py     the one palette
page.py      the one shell of HTML: pages, fragments of notebooks, tables, bars
display.py   what all matplotlib displays share; those of something that changes step by step
expression.py  arithmetic over the cells of a row as a tree, which exports write in other languages
svg.py       small charts in SVG without any package
graph/       directed graphs, laid out and drawn
"""
