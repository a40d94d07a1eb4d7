"""Every instruction set gives the same bits: in kernels, model files and predictions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise import _kernels
from bayeswise.foundation.errors import ParameterError
from tests.cases.kernel_cases import (
    Arrays,
    counting_and_deciding_kernels,
    gaussian_kernels,
    pool_kernels,
    regression_kernels,
)

ISAS = _kernels.available_isas()


@pytest.fixture(autouse=True, scope="module")
def same_isa_afterwards() -> Iterator[None]:
    before = _kernels.isa()
    yield
    _kernels.use_isa(before)


def on_each(compute: Callable[[], Arrays]) -> Iterator[Arrays]:
    for isa in ISAS:
        _kernels.use_isa(isa)
        yield compute()


def assert_same_bits(compute: Callable[[], Arrays]) -> None:
    expected, *others = on_each(compute)
    for found in others:
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
            if one.dtype.kind == "f":
                assert (np.signbit(one) == np.signbit(other))[~np.isnan(one)].all()


# -- kernels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernels", [gaussian_kernels, regression_kernels, pool_kernels, counting_and_deciding_kernels])
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 70), n_columns=st.integers(1, 40), n_states=st.integers(1, 9)
)
def test_kernels_give_the_same_bits(
    kernels: Callable[..., Arrays], seed: int, n_rows: int, n_columns: int, n_states: int
) -> None:
    def compute() -> Arrays:
        generator = np.random.default_rng(seed)
        values = np.ldexp(generator.normal(size=(n_rows, n_columns)), generator.integers(-9, 9, n_columns))
        return kernels(generator, values, n_states)

    assert_same_bits(compute)


# -- models ---------------------------------------------------------------------------------------------------


def table(n_rows: int = 400) -> dict[str, list[Any]]:
    g = np.random.default_rng(5)
    x, z, letter = g.normal(size=n_rows), 1e9 + g.normal(size=n_rows), g.choice(list("abc"), n_rows)
    y = np.where(x + (letter == "a") + g.normal(size=n_rows) > 0, "yes", "no")
    return {"x": x.tolist(), "z": z.tolist(), "letter": letter.tolist(), "y": y.tolist()}


@pytest.mark.parametrize("kind", ["naive", "averaged", "gaussian", "logistic", "linear", "tan", "aode"])
def test_model_files_and_predictions_have_the_same_bytes(kind: str, tmp_path: Path) -> None:
    rows = table()
    if kind == "gaussian":
        del rows["letter"]
    target = "x" if kind == "linear" else "y"

    def learn() -> Arrays:
        model = bw.fit(rows, target, model=kind)
        model.save(tmp_path / "model")
        answer = model.predict(rows) if kind == "linear" else model.predict_proba(rows)
        return [np.frombuffer((tmp_path / "model").read_bytes(), dtype=np.uint8), np.asarray(answer)]

    assert_same_bits(learn)


def test_a_searched_graph_is_the_same() -> None:
    rows = {name: cells for name, cells in table().items() if name in ("letter", "y")} | {
        "big": [str(x > 0) for x in table()["x"]]
    }
    graphs = set()
    for isa in ISAS:
        _kernels.use_isa(isa)
        graphs.add(str(bw.BeliefNetwork.learn(rows, score="bic").edges))
    assert len(graphs) == 1


# -- the choice -----------------------------------------------------------------------------------------------


def version(isa: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bayeswise", "--version", "-v"],
        capture_output=True, text=True, env={**os.environ, "BAYESWISE_ISA": isa},
    )  # fmt: skip


@pytest.mark.parametrize("isa", ISAS)
def test_the_environment_chooses_at_load_and_the_version_says_which(isa: str) -> None:
    assert f"kernels: {isa} (available here: {', '.join(ISAS)})" in version(isa).stdout
    assert f"kernels: {ISAS[-1]} " in version("").stdout


def test_an_instruction_set_that_cannot_run_is_refused_with_those_that_can() -> None:
    done = version("sse9")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.endswith(
        "bayeswise: BAYESWISE_ISA: this processor and this build cannot run the instruction set 'sse9'. "
        f"Fix: use one of {', '.join(ISAS)}, or leave the variable unset.\n"
    )
    with pytest.raises(ParameterError, match="cannot run the instruction set 'sse9'"):
        _kernels.use_isa("sse9")


def test_kernels_refuse_it_where_there_is_no_command_line() -> None:
    program = (
        "import numpy as np, bayeswise as bw\n"
        "from bayeswise.foundation.errors import ParameterError\n"
        "try: bw.NaiveBayes().fit(np.eye(4), [0, 1, 0, 1])\n"
        "except ParameterError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "BAYESWISE_ISA": "avx9"}
    )
    assert "cannot run the instruction set 'avx9'" in done.stdout, done.stderr
