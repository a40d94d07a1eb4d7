"""Kernels on their own, without the engine around them."""
