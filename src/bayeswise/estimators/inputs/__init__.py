"""X, y and weights, from what scikit-learn users bring to what models learn from.

checking.py  X as scikit-learn users bring it, behind its checks; frames of Dask and Spark
encoding.py  from X to a schema and batches
targets.py   y, its classes and prior, weights of rows
"""
