"""One file for each kind of source; all of them end in the interface of `tables/source.py`.

opening.py      which kind of source an object is
files.py        which files a path means, which reader each needs, several as one table
table.py        what all sources share
cells.py        Python objects as cells
text/           delimited text
memory/         frames, arrays and records
arrow.py        the Arrow C stream interface
arrow_file.py   Arrow and Feather files
duckdb_scan.py  Parquet, JSON and DuckDB relations
parquet.py      which Parquet files the kernel or polars reads, what their footers say
sqlite.py       SQLite files
workbook.py     Excel and OpenDocument workbooks
"""
