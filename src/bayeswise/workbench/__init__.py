"""The workbench: a local page on which a folder of tables, models and decisions is seen and changed; and a service.

app.py        the application: all routes, errors as answers, the files of the page; the server and its address
safety.py     what every request passes first, and how much it may take
workspace.py  one folder of plain files, beyond which no name leads
bench.py      what the routes share: the folder with its jobs, a table with the overrides of its columns
messages.py   request and answer models that pages share; the same call in the shell and in Python
pages/        the routes of each page, a file for each
service/      predictions and decisions for other programs

The page itself is TypeScript in `page/`; `make page` puts it into `bundle/` here. Only `bayeswise serve` imports this
layer: it needs the extra `web`.
"""
