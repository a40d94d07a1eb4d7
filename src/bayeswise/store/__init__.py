"""The model file: a tree of plain values and named tensors, canonical and checked; loading runs no code.

document.py   a frozen value as a tree and tensors, and back
fields.py     which fields of a dataclass a document holds, and what was added since
file.py       a document as one file with format, kind and checksum; files of older formats
container.py  the safetensors container, and the arrays that it may hold
parsing.py    JSON and TOML that are measured before they are parsed
"""
