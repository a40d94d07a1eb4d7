"""Ours against peers: `make bench`, or `python -m benchmarks [FILTER ...]`.

    harness.py    a race (ours and the peer, interleaved, best of k) and a figure (a number with a limit)
    rows/         one file per subject; each has `rows(size)`, which yields races and figures

A benchmark prints and never asserts: a missed target is a line that says "missed".
"""
