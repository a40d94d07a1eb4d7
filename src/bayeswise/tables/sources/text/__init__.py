"""Tables as text: files of any encoding and compression, and pipes.

stream.py   a text file as a stream of UTF-8
dialect.py  delimiter, quotes, header and decimal mark
csv.py      blocks of text, split into columns by the kernel; text that can be read only once
"""
