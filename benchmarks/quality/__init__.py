"""How good posteriors and decisions are on tables that nobody tuned them on.

tables       what a table is here
development  the tables that settings may be chosen by
games        more of them, which rules decide without noise
few_rows     more of them, small ones with a few odd rows
reporting    the tables that figures are reported on: nothing was chosen by them
noise        tables that say nothing: intervals of cross-validation must contain the error of chance
methods      ours and scikit-learn's, each from a training frame to posteriors of a test frame
trials       posteriors of all candidates of auto, kept so that ways to weigh them can be compared
measures     log-loss, Brier score, calibration error, error, costs; ranks and their critical difference
__main__     python -m benchmarks.quality: all methods on all tables, fold by fold
"""
