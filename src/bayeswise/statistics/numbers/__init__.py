"""What is kept of numbers in each group: exact sums and products, where they lie, or all of them.

kernel_numbers.py      numbers as the kernels take them
moments.py             sums and sums of squares
extents.py             where the values of a column lie, as counts
scatter.py             all cross products; of pairs of columns while rows are few
pattern_scatter.py     the same for rows with missing values
regression_moments.py  X'X, X'y and y'y
sample.py              all values, for families without a statistic of fixed size
incomplete_rows.py     rows with missing cells, for EM
"""
