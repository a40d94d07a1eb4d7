"""
All models, weighed
===================

``model="auto"`` fits every kind of model and weighs them by rows that were left out. The weights say what the table is
like.
"""

from sklearn.datasets import load_iris

import bayeswise as bw

iris = load_iris(as_frame=True)
table = iris.frame.assign(species=iris.target_names[iris.target]).drop(columns="target")
learned, new = table.iloc[::2], table.iloc[1::2]
model = bw.fit(learned, target="species", model="auto")
print(model)

# %%
# What it costs to be wrong on the other rows, beside simpler ways to act.
bw.evaluate(model, new).plot()
