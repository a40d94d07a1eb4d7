"""Families of numbers: one file for each distribution.

exponential.py             a waiting time
gamma.py                   a positive number
beta.py                    a number between 0 and 1
normal.py                  a number
normal_mean.py             a number with a known standard deviation
multivariate_normal.py     a vector of numbers
normal_inverse_wishart.py  the prior of its mean and covariance
log_normal.py              a positive number whose logarithm is normal
laplace.py                 a number, around its median
student_t.py               a number with heavy tails
"""
