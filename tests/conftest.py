"""What every test may use: a way to run commands in this process, and one pace for hypothesis."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import settings

from bayeswise.cli import main

# Workers and the threads of BLAS multiply, and threads that wait for each other crawl on a busy machine. This holds for
# commands under test too; NumPy is not loaded yet.
for library in ("OPENBLAS", "OMP", "MKL", "BLIS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# A run of the tests is repeatable; HYPOTHESIS_PROFILE=explore looks for new counterexamples.
# No deadline: a busy machine is not a bug.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@dataclass(frozen=True)
class Answer:
    """What a command gave back."""

    code: int
    out: str
    err: str


@pytest.fixture
def bayeswise(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Run `bayeswise WORDS...` in this process, as in `bayeswise("look", path, "-t", "play", stdin=b"...")`."""

    def call(*words: object, stdin: bytes = b"") -> Answer:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = main([str(word) for word in words])
        return Answer(code, *capsys.readouterr())

    return call
