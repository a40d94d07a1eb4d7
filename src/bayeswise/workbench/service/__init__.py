"""The service: predictions, decisions and explanations of the workspace's models for other programs.

routes.py       POST /api/v1/models/{name}/predict, decide and explain; the list of models, health and metrics
served.py       the models in memory, replaced when their file changes
bodies.py       rows from JSON, CSV and Arrow, and answers in the same formats
row_answers.py  answers row by row; a row that cannot be answered has its error in its place
metrics.py      counts and durations of requests, in the text format of Prometheus
"""
