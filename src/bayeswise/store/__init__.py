"""The model file: a tree of plain values and named tensors, canonical and checked; loading runs no code."""
