"""Model files forged by somebody who knows the format: the checksum is right, and one thing inside is wrong.

Each case takes a small model of some kind, changes its document in one or two places, seals it again, loads it and asks
the model whatever a user would. Whoever loads such a file gets a `StoreError`, or a model that answers.
"""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError
from bayeswise.foundation.exact import ExactArray
from bayeswise.models.files import kind_of
from bayeswise.networks.mixed import NormalMixture
from bayeswise.store import file as store_file
from bayeswise.store.container import FILE_TYPES, container_bytes
from bayeswise.store.document import Document, pack
from bayeswise.store.file import Note, _checksum
from tests.cases.model_cases import MODELS, Table, model_of
from tests.fuzz.answers import check_finite, check_message, check_posterior
from tests.fuzz.mutations import Way, at, changed_tree, walked

TAGGED = (
    {"$float": "nan"},
    {"$float": "inf"},
    {"$float": "-inf"},
    {"$int": hex(1 << 90)},
    {"$text": "edb080"},
    {"$list": []},
    {"$map": []},
    {"$map": [["yes", 1.0]]},
    {"$type": "Schema"},
    {"$type": "Product", "parts": {"$map": []}},
    {"$type": "Vocabulary", "$plain": []},
)


def cases(seed: int, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Forged files of all kinds of models in turn."""
    names = list(MODELS)
    for number in range(count):
        name = names[(number + seed) % len(names)]
        random = Random(f"{seed} {number}")
        yield f"{name} {number}", lambda name=name, random=random: forge_and_ask(name, random)


def forge_and_ask(name: str, random: Random) -> None:
    kind, original, rows = packed(name)
    document = Document(copy.deepcopy(original.tree), dict(original.tensors))
    for _ in range(random.choice((1, 1, 1, 2))):
        document = forged(document, random)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayeswise"
        path.write_bytes(sealed(document, kind))
        model = bw.load(path)
    ask(model, rows)


@cache
def packed(name: str) -> tuple[str, Document, Table]:
    """Kind and document of a model, and rows for it."""
    model, rows = model_of(name)
    return kind_of(model), pack(model), {column: cells[:6] for column, cells in rows.items()}


def sealed(document: Document, kind: str) -> bytes:
    """A file of the document with the right checksum, whatever it says."""
    raw = json.dumps(document.tree, separators=(",", ":")).encode()
    note = Note(store_file.FORMAT, kind, _checksum(store_file.FORMAT, kind, raw, document.tensors))
    return container_bytes({**document.tensors, "document": np.frombuffer(raw, dtype=np.uint8)}, note.text())


# -- what is forged -----------------------------------------------------------------------------------------
def forged(document: Document, random: Random) -> Document:
    """The document with one thing changed."""
    if document.tensors and random.random() < 0.5:
        return forged_tensor(document, random)
    return Document(changed_tree(document.tree, random, TAGGED), document.tensors)


def forged_tensor(document: Document, random: Random) -> Document:
    """An array of another shape, type or content; exact sums stay canonical, so that only their meaning is wrong."""
    name = random.choice(sorted(document.tensors))
    exact = [place for place, value in walked(document.tree) if is_sum(value, name)]
    if exact and random.random() < 0.8:
        return forged_sums(document, random, name, exact[0])
    array = np.array(document.tensors[name])
    change = random.choice((*ARRAYS, *VALUES_OF_ARRAYS))
    tensors = {**document.tensors, name: np.ascontiguousarray(change(array, random))}
    if random.random() < 0.05:
        del tensors[name]
    return Document(document.tree, tensors)


def is_sum(value: Any, name: str) -> bool:
    return isinstance(value, dict) and value.get("$exact") == {"$tensor": name} and isinstance(value.get("low"), int)


def forged_sums(document: Document, random: Random, name: str, path: Way) -> Document:
    words, low = document.tensors[name], at(document.tree, path)["low"]
    integers, _ = ExactArray.from_words(words, low).to_ints()
    change = random.choice((*ARRAYS[:-1], *SUMS))
    exact = ExactArray.from_ints(np.asarray(change(integers.copy(), random), dtype=object), low)
    at(document.tree, path)["low"] = exact.low
    return Document(document.tree, {**document.tensors, name: exact.words()})


def one_entry(array: Any, random: Random, value: Any) -> Any:
    if array.size:
        array.reshape(-1)[random.randrange(array.size)] = value
    return array


def _resized(array: Any, random: Random) -> Any:
    if not array.ndim:
        return array.reshape(1)
    axis = random.randrange(array.ndim)
    shape = list(array.shape)
    shape[axis] = max(0, shape[axis] + random.choice((-1, 1, 2, -shape[axis])))
    bigger = np.zeros(shape, dtype=array.dtype)
    common = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, shape, strict=True))
    bigger[common] = array[common]
    return bigger


def _another_type(array: Any, random: Random) -> Any:
    return array.astype(random.choice(list(FILE_TYPES.values())))


ARRAYS: tuple[Callable[[Any, Random], Any], ...] = (
    _resized,
    lambda array, random: array.T,
    lambda array, random: array.reshape(-1),
    lambda array, random: array[None],
    lambda array, random: array[..., None],
    lambda array, random: array[::-1] if array.ndim else array,
    lambda array, random: array[..., ::-1] if array.ndim else array,
    lambda array, random: array[:0] if array.ndim else array,
    lambda array, random: array.reshape(-1)[:1].reshape(()) if array.size else array,
    _another_type,
)
VALUES_OF_ARRAYS: tuple[Callable[[Any, Random], Any], ...] = (
    lambda array, random: np.negative(array) if array.dtype != bool else ~array,
    lambda array, random: array * 0,
    lambda array, random: array * 3,
    lambda array, random: one_entry(array, random, 0),
    lambda array, random: one_entry(array, random, 1),
    lambda array, random: one_entry(array, random, 127),
    lambda array, random: one_entry(array, random, -1) if array.dtype.kind in "if" else array,
    lambda array, random: one_entry(array, random, 2**31 - 1) if array.dtype.itemsize > 1 else array,
    lambda array, random: one_entry(array, random, np.nan) if array.dtype.kind == "f" else array,
    lambda array, random: one_entry(array, random, np.inf) if array.dtype.kind == "f" else array,
    lambda array, random: one_entry(array, random, -np.inf) if array.dtype.kind == "f" else array,
    lambda array, random: one_entry(array, random, 1e308) if array.dtype.kind == "f" else array,
    lambda array, random: one_entry(array, random, -1e308) if array.dtype.kind == "f" else array,
    lambda array, random: one_entry(array, random, 5e-324) if array.dtype.kind == "f" else array,
    lambda array, random: array * 1e300 if array.dtype.kind == "f" else array,
)
SUMS: tuple[Callable[[Any, Random], Any], ...] = (
    lambda sums, random: -sums,
    lambda sums, random: sums * 0,
    lambda sums, random: sums * 1000,
    lambda sums, random: sums << 1030,
    lambda sums, random: sums << 3000,
    lambda sums, random: one_entry(sums, random, 0),
    lambda sums, random: one_entry(sums, random, 1),
    lambda sums, random: one_entry(sums, random, -1),
    lambda sums, random: one_entry(sums, random, -(1 << 40)),
    lambda sums, random: one_entry(sums, random, 1 << 40),
    lambda sums, random: one_entry(sums, random, 1 << 1100),
    lambda sums, random: one_entry(sums, random, 1 << 2300),
    lambda sums, random: one_entry(sums, random, -(1 << 2300)),
    lambda sums, random: one_entry(sums, random, (sums.reshape(-1)[0] if sums.size else 0) * 2 + 1),
)


# -- what is called ------------------------------------------------------------------------------------------
def ask(model: Any, rows: Table) -> None:
    """Whatever a user would ask; each question is answered, or refused by an error of ours."""
    first = {column: cells[:1] for column, cells in rows.items()}
    if hasattr(model, "predict_proba") and hasattr(model, "classes"):
        questions: list[Callable[[], Any]] = [
            lambda: check_posterior(model.predict_proba(rows), 6 if len(next(iter(rows.values()))) >= 6 else None),
            lambda: model.predict(rows),
            lambda: model.predict_log_proba(rows),
            lambda: model.explain({name: cells[0] for name, cells in rows.items()}),
            lambda: check_posterior(model.leave_one_out(rows)),
            lambda: model.learn(rows),
            lambda: model.forget(first),
            lambda: model.merge(model),
            lambda: model.sample(3),
            lambda: model.log_evidence(rows),
        ]
    elif hasattr(model, "schema"):
        questions = [
            lambda: check_finite(model.predict(rows), "a prediction"),
            lambda: model.explain({name: cells[0] for name, cells in rows.items()}),
            lambda: model.merge(model),
            lambda: model.forget(first),
        ]
    elif hasattr(model, "network"):
        questions = [lambda: check_network(model.network()), lambda: model.merge(model), lambda: model.forget(first)]
    elif hasattr(model, "marginals"):
        questions = [lambda: check_network(model), lambda: model.sample(3, seed=0)]
    else:
        raise AssertionError(f"a {type(model).__name__} is not a model")
    questions.append(lambda: repr(model))
    for question in questions:
        try:
            question()
        except BayeswiseError as error:
            check_message(error)
        except AttributeError as error:
            if getattr(error, "obj", None) is not model or error.name not in OPTIONAL:
                raise


OPTIONAL = ("explain", "leave_one_out", "learn", "forget", "merge", "sample", "log_evidence")


def check_network(network: Any) -> None:
    for marginal in network.marginals().values():
        if isinstance(marginal, NormalMixture):
            check_finite([marginal.mean, marginal.stddev], "a belief about a number")
        else:
            check_posterior([list(marginal.values())])
