"""
Why this answer
===============

Prior times what each column says is the posterior: the explanation is the calculation itself.
"""

from sklearn.datasets import load_wine

import bayeswise as bw

wine = load_wine(as_frame=True)
names = ["alcohol", "flavanoids", "color_intensity", "hue"]
table = wine.frame[names].assign(grower=wine.target_names[wine.target])
model = bw.fit(table, target="grower", model="naive-bayes")
row = table.iloc[60].drop("grower").to_dict()
account = model.explain(row)
account.plot()

# %%
# Prior x contributions = posterior, for every class.
account.plot_panels()
