"""Whatever a network is named: a file of it is read back the same, or is not written; and no text breaks a reader."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.foundation.errors import BayeswiseError, NetworkError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.formats import bif, hugin, uai, xdsl, xmlbif
from bayeswise.networks.formats.description import Description
from tests.cases.network_cases import asia

WORDS = st.text(st.characters(codec=None), min_size=1, max_size=6)
HARD = st.sampled_from(
    [
        " a",
        "a ",
        "\n",
        "\r",
        "\x00",
        "\x01",
        "\ud800",
        "\ufffe",
        '\\"',
        "]]>",
        *['"', "\\", "/*", "//", "%", "{", "node", "table", "<", "&", "|"],
    ]
)
NAMES = st.lists(st.one_of(WORDS, HARD), min_size=2, max_size=5, unique=True)


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net", ".xdsl", ".bif.gz", ".bayeswise"])
@given(names=NAMES, states=NAMES, title=WORDS)
@settings(max_examples=60, deadline=None)
def test_any_names_come_back_or_are_refused(suffix: str, names: list[str], states: list[str], title: str) -> None:
    share = [1.0] + [0.0] * (len(states) - 1)
    first, *others = names
    nodes = [Node(first, states, share), *(Node(n, states, [share] * len(states), [first]) for n in others)]
    network = BeliefNetwork(nodes, name=title)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"n{suffix}"
        try:
            network.write(path)
        except NetworkError:
            assert suffix != ".bayeswise"
            assert not path.exists()
            return
        again = BeliefNetwork.read(path)
    assert again == network
    assert again.name == network.name


PIECES = ['"', "{", "}", "(", ")", "|", ";", ",", "//", "/*", "*/", "\\", "1e999", "nan", "-1", "<", "&", "%", "="]
PIECES += ["\0", "\ud800", "9" * 400]


@pytest.mark.parametrize("form", [bif, hugin, xmlbif, xdsl, uai])
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_text_is_read_or_refused_with_a_typed_error(form: object, data: st.DataObject) -> None:
    text = form.text(Description.of_network(asia()))  # type: ignore[attr-defined]
    for _ in range(data.draw(st.integers(1, 3))):
        start, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 20))
        text = text[:start] + data.draw(st.sampled_from(["", *PIECES])) + text[start + length :]
    try:
        form.parse(text, "x").network("x")  # type: ignore[attr-defined]
    except BayeswiseError as error:
        assert str(error)
