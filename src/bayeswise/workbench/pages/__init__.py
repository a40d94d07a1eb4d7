"""The pages of the workbench, one file for what each of them asks: routes, and the form of requests and answers.

files.py  the files of the workspace
data.py   columns, kinds, reasons and pictures of a table
"""
