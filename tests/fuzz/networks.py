"""Network files in all formats, with changes; what is read answers, and is written again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bayeswise.foundation.errors import ImpossibleEvidenceError
from bayeswise.networks import BeliefNetwork
from bayeswise.networks.formats import bif, dne, hugin, uai, xdsl, xmlbif
from bayeswise.networks.formats.description import Description
from tests.cases.network_cases import asia, random_network
from tests.fuzz.answers import check_posterior
from tests.fuzz.mutations import changed_text, changed_words

FORMATS: dict[str, Any] = {"bif": bif, "xmlbif": xmlbif, "net": hugin, "xdsl": xdsl, "dne": dne, "uai": uai}


def cases(seed: int, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Files of each format in turn, of networks of several sizes."""
    formats = list(FORMATS)
    for number in range(count):
        form = formats[(number + seed) % len(formats)]
        random = Random(f"{seed} {number}")
        yield f"{form} {number}", lambda form=form, random=random: read_and_ask(form, random)


@cache
def text_of(form: str, which: int) -> str:
    """The text of one of a few networks."""
    network = asia() if which == 0 else random_network(which, n_nodes=2 * which)
    text: str = FORMATS[form].text(Description.of_network(network))
    return text


def read_and_ask(form: str, random: Random) -> None:
    """Read the file, ask for all marginals, and for those after something was seen."""
    change = random.choice((changed_text, changed_words))
    data = change(text_of(form, random.randrange(4)), random)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"network.{form}"
        path.write_bytes(data)
        network = BeliefNetwork.read(path)
        check_marginals(network, {})
        seen = random.choice(list(network))
        state = random.choice(network.states(seen))
        try:
            check_marginals(network, {seen: state})
        except ImpossibleEvidenceError:
            assert network.marginals()[seen][state] < 1e-300
        network.write(path)
        assert BeliefNetwork.read(path) == network, "a network that was written is read as another one"


def check_marginals(network: BeliefNetwork, evidence: dict[str, Any]) -> None:
    for name, marginal in network.marginals(evidence).items():
        check_posterior([[marginal[state] for state in network.states(name)]])
