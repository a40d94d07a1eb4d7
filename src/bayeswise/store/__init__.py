"""The model file: a tree of plain values and named tensors, canonical and checked; loading runs no code.

document.py    a frozen value as a document and back; packing, unpacking and annotations do the work
file.py        a document as one file: format, kind, checksum; `write_value`, `read_value`, `describe`
migrations.py  files of older formats; fields.py what was added to a class since
container.py   the safetensors container, and strict_json.py the JSON in it: measured before believed
limits.py      how much a file may ask for
atomic.py      files that are there whole or not at all, for models and tables alike
"""
