"""
Asking for labels
=================

Labels are expensive. A learner that asks about the rows it is least sure of needs fewer of them than one that draws
rows at random.
"""

from sklearn.datasets import load_breast_cancer

import bayeswise as bw

data = load_breast_cancer(as_frame=True)
names = ["mean radius", "mean texture", "mean smoothness"]
table = data.data[names].assign(diagnosis=data.target_names[data.target])
curves = bw.learning_curves(table, "diagnosis", strategies=("margin", "random"), n_labels=40, n_seeds=4)
curves.plot()

# %%
# One session by hand: the labelled set starts empty, for the prior answers. Each label is one merge, and can be undone.
learner = bw.ActiveLearner.over(table[names], target="diagnosis", classes=["benign", "malignant"])
for _ in range(8):
    row = learner.query()[0].row
    learner.teach(row, table["diagnosis"][row])
print(learner)
