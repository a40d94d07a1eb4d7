"""A short run of the fuzzer over every kind of input; `make fuzz MINUTES=10` goes on from here."""

from __future__ import annotations

import pytest

from tests.fuzz.kinds import KINDS
from tests.fuzz.runner import run

N_CASES = 500


@pytest.mark.parametrize("kind", KINDS)
def test_every_input_has_a_finite_answer_or_a_short_typed_error(kind: str) -> None:
    result = run(kind, seed=0, count=N_CASES)
    assert not result.failures, "\n".join(map(str, result.failures[:5]))
    assert sum(result.endings.values()) == N_CASES
    assert result.endings["answered"] >= N_CASES // 20, "nearly all cases are refused at the first look"
    assert result.endings["refused"] >= N_CASES // 20, "nearly no case is wrong"
