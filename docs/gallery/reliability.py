"""
Reliability and confusion
=========================

Of all rows with a probability of 0.8, four of five should be what was predicted. Naive Bayes counts correlated columns
twice and is too sure; a calibration on rows left out corrects that.
"""

from sklearn.datasets import load_breast_cancer

import bayeswise as bw

data = load_breast_cancer(as_frame=True)
table = data.data.assign(diagnosis=data.target_names[data.target])
plain = bw.fit(table, target="diagnosis", model="naive-bayes")
before = bw.evaluate(plain, table, cv="loo")
before.plot_reliability("malignant")

# %%
# The same rows, each left out, after a calibration by folds.
calibrated = bw.fit(table, target="diagnosis", model="naive-bayes", calibrate="isotonic")
after = bw.evaluate(calibrated, table, cv=5)
after.plot_reliability("malignant")

# %%
# Rows and costs by true state and action. To miss a tumour costs 20 second examinations.
costs = {"examine": {"malignant": 0, "benign": 1}, "send home": {"malignant": 20, "benign": 0}}
bw.evaluate(calibrated, table, costs, cv=5).plot_confusion()
