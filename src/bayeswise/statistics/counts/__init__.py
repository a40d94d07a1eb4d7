"""How often something was seen in each group: levels, combinations of levels, words.

level_counts.py   levels of a category column
column_levels.py  levels of many columns, and where one table has them
column_counts.py  how often each was seen; by code while a sweep goes on
joint_counts.py   combinations of levels
pair_counts.py    levels of all pairs of columns
word_counts.py    words of texts
"""
