"""Finding a state by its label, and guessing which one was meant."""

from __future__ import annotations
