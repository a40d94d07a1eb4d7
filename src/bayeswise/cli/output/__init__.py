"""What verbs print and write: pages for a terminal from the facts that --json prints, and tables of rows.

writing.py        outputs that are refused before the work begins, and messages afterwards
file_kinds.py     which suffixes and first bytes a file has: what is of another kind is not replaced
fixes.py          a `Fix:` as it is typed on the command line
look_page.py      the page of `look`
fit_page.py       the page of `fit`
inspect_page.py   the page of `inspect`
reasons.py        what `explain` shows
answer_stream.py  predictions for a stream of rows
decided_rows.py   decisions for a stream of rows, within limits on actions
table_form.py     the format of a table, from an option or the suffix; Parquet
table_text.py     CSV and JSON lines
"""
