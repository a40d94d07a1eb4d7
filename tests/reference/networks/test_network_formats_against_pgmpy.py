"""Files of networks that pgmpy reads and writes: BIF, XMLBIF, Hugin and GeNIe, there and back.

UAI is left out: pgmpy lets the last parent change fastest, and not the node itself as the format has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayeswise.networks import BeliefNetwork
from tests.cases.network_cases import random_network

readwrite: Any = pytest.importorskip("pgmpy.readwrite", reason="pgmpy reads and writes networks: pip install pgmpy")

FORMATS = {".bif": "BIF", ".xml": "XMLBIF", ".net": "NET", ".xdsl": "XDSL"}


def cells(model: Any, network: BeliefNetwork) -> Iterator[tuple[Any, Any]]:
    """Each table of pgmpy's model beside ours, in our order of parents."""
    for name in network:
        cpd = model.get_cpds(name)
        order = [*network.parents(name), name]
        theirs = np.moveaxis(cpd.values, [cpd.variables.index(each) for each in order], range(len(order)))
        yield theirs.ravel(), network.table(name).ravel()


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_pgmpy_reads_what_we_write(tmp_path: Path, suffix: str, seed: int) -> None:
    network = random_network(seed)
    path = tmp_path / f"n{suffix}"
    network.write(path)
    model = getattr(readwrite, f"{FORMATS[suffix]}Reader")(str(path)).get_model()
    assert {*model.nodes()} == {*network}
    for theirs, ours in cells(model, network):
        assert theirs == pytest.approx(ours, abs=1e-9)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_we_read_what_pgmpy_writes(tmp_path: Path, suffix: str, seed: int) -> None:
    network = random_network(seed)
    network.write(tmp_path / "first.bif")
    model = readwrite.BIFReader(str(tmp_path / "first.bif")).get_model()
    path = tmp_path / f"n{suffix}"
    writer = getattr(readwrite, f"{FORMATS[suffix]}Writer")(model)
    write = next(getattr(writer, each) for each in dir(writer) if each.startswith("write"))
    write(str(path))
    again = BeliefNetwork.read(path)
    assert len(again) == len(network)
    for theirs, ours in cells(model, again):
        assert ours == pytest.approx(theirs, abs=1e-5)
