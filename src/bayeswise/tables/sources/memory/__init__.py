"""Tables that are in memory already.

numpy_array.py   NumPy arrays, structured ones, dicts of arrays
pandas_frame.py  pandas dataframes
polars_frame.py  polars dataframes and lazy frames
records.py       lists of dicts, dicts of lists
"""
