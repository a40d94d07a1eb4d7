"""One file per subject; each has `rows(size)`.

`EVERY_ISA = True` in a file: its kernels have a copy for each instruction set, and `--isa all` measures each of them.
`BY_NAME = True`: its rows take hours, and run only where a word names them.
"""
