"""Every setting of every model, declared once: its name, type, default, meaning and bounds.

The signature and help of `bw.fit`, the options of `bayeswise fit`, the checks of all three ways to fit, the parameters
of the estimators and the fields of model files follow from these files; nothing here loads more than NumPy.

declaration.py  what a declaration is: `setting(default, help, ...)`, a field of a dataclass; checks and earlier names
common.py       what every model takes: the table, its columns, threads
help_text.py    all of them in groups, in words; the signature of `bw.fit`
naive_bayes.py  smoothing, priors, floors, families; named conventions
averaged.py     the relevance of columns
gaussian.py     the form of the covariance
regression.py   likelihood, prior and scale of weights
tree.py         what a leaf costs, depth, smoothing
auto.py         a mixture of all models, or the best of them
network.py      structures, and how their tables are smoothed
"""
