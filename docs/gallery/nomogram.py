"""
A nomogram
==========

Points for each value, read off rulers and added up; their sum gives the probability. Nothing but a pencil is needed.
"""

import bayeswise as bw

rows = [
    {"smoker": smoker, "age": age, "ill": ill}
    for smoker, age, ill, times in [
        ("yes", "old", "yes", 30),
        ("yes", "young", "yes", 12),
        ("no", "old", "yes", 15),
        ("no", "young", "yes", 3),
        ("yes", "old", "no", 20),
        ("yes", "young", "no", 40),
        ("no", "old", "no", 50),
        ("no", "young", "no", 80),
    ]
    for _ in range(times)
]
model = bw.fit(rows, target="ill", model="naive-bayes")
model.nomogram({"smoker": "yes", "age": "old"}).plot()
