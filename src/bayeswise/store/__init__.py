"""The model file: a tree of plain values and named tensors, canonical and checked; loading runs no code.

document.py     a frozen value as a document and back
packing.py      from a frozen value to a tree and tensors
unpacking.py    from a tree and tensors back to the value
fields.py       which fields of a dataclass a document holds, and what was added since
tensors.py      the arrays that a document may hold
file.py         a document as one file with format, kind and checksum; files of older formats
container.py    the safetensors container
strict_json.py  JSON that is measured before it is parsed
toml_size.py    TOML that is measured before it is parsed
ledger.py       which batches of rows a model has forgotten, beside its file
"""
