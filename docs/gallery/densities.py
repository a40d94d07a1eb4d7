"""
Classes along one column
========================

How likely a value is in each class, the same weighted by the prior, and the posterior, over one axis. The regions of
the best decisions stand below.
"""

from sklearn.datasets import load_iris

import bayeswise as bw

iris = load_iris(as_frame=True)
table = iris.frame.assign(species=iris.target_names[iris.target]).drop(columns="target")
model = bw.fit(table, target="species", model="naive-bayes")
model.plot_densities("petal length (cm)")

# %%
# Classes need not be fitted: parameters will do. Two normals of unequal spread cross twice.
height = bw.ClassDensities.of(
    {"narrow": {"mean": 0, "stddev": 1}, "wide": {"mean": 1, "stddev": 3}},
    {"narrow": 0.5, "wide": 0.5},
    family="normal",
)
height.plot()

# %%
# The error of the best rule is irreducible; one boundary at 2 adds to it.
height.plot_error(2.0)
