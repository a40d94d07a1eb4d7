"""Any directed graph without cycles as a picture: laid out in lines, then written as SVG or DOT.

picture.py  what is drawn, as plain values
boxes.py    how wide a text is and how it is cut, how large a node is
layout.py   the whole layout, part by part: the order of nodes on a line, and their places
layers.py   the line on which each node stands
markup.py   the picture as SVG, and in the language of Graphviz
plot.py     the picture by matplotlib
"""
