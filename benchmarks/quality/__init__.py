"""How good posteriors and decisions are on tables that nobody tuned them on.

tables    two sets of tables: settings may be chosen by the development set, figures are those of the reporting set
methods   ours and scikit-learn's, each from a training frame to posteriors of a test frame
measures  log-loss, Brier score, calibration error, error, costs; ranks and their critical difference
__main__  python -m benchmarks.quality: all methods on all tables, fold by fold
"""
