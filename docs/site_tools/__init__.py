"""What `make docs` adds to Sphinx.

pages.py       pages of other folders, and links that lead to files in a clone and to pages on the site
galleries.py   scripts that are run, shown with their pictures, and offered as notebooks, those of lectures with outputs
docstrings.py  a docstring in the style of this project, taken apart; no Sphinx in it
inventory.py   the public names, and what each of their parameters means; no Sphinx in it
reference.py   the reference of Python names, from them
commands.py    the reference of the command line, from the program
mathml.py      formulas as MathML, which browsers draw themselves
offline.py     a built page loads nothing from elsewhere
"""
