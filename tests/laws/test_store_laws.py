"""What is saved is what is loaded, equal values are equal bytes, and no bytes break a reader."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bayeswise.foundation.errors import StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics import Counts, Grouped, Moments, Product, fingerprint
from bayeswise.store.document import Document, pack, unpack
from bayeswise.store.file import model_bytes, read_bytes
from bayeswise.tables.schema.labels import Vocabulary
from tests.strategies import GROUPS, LEVELS, N_GROUPS, Rows, finite, rows


@dataclass(frozen=True)
class Box:
    content: Any
    labels: Vocabulary
    sums: ExactArray | None = None


TYPES = (Box, Vocabulary)
HARD = [
    "",
    " a",
    "nan",
    "None",
    "\U0001f600",
    "\ud800",
    "\ud83d\ude00",
    "a\nb",
    "\0",
    "x" * 10_000,
    "שלום",
    "1",
    '"\\',
]

texts = st.one_of(st.sampled_from(HARD), st.text(st.characters(exclude_categories=()), max_size=5))
integers = st.one_of(st.integers(), st.sampled_from([2**63, -(2**63), -(2**63) - 1, 10**4000]))
scalars = st.one_of(st.none(), st.booleans(), integers, st.floats(), texts)
labels = st.one_of(st.booleans(), integers, st.floats(allow_nan=False, allow_infinity=False), texts)
vocabularies = st.lists(labels, max_size=4).map(Vocabulary.of)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
types_of_arrays = st.sampled_from(["float64", "int64", "int32", "uint32", "uint8", "bool", ">f8"])
arrays = types_of_arrays.flatmap(lambda kind: hnp.arrays(kind, shapes))
exacts = hnp.arrays("float64", shapes, elements=finite).map(ExactArray.from_floats)
leaves = st.one_of(scalars, vocabularies, arrays, exacts)
keys = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from([0.5, "a", "\U0001f600"]))


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.builds(Box, inner, vocabularies, st.none() | exacts),
    )


values = st.recursive(leaves, containers, max_leaves=8)


def same(left: Any, right: Any) -> bool:
    """Equality to the last bit and type; NaN is itself."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or left.hex() == right.hex()
    if isinstance(left, np.ndarray):
        native = left.astype(left.dtype.newbyteorder("="))
        return (native.dtype, native.shape, native.tobytes()) == (right.dtype, right.shape, right.tobytes())
    if isinstance(left, ExactArray):
        return left == right and left.shape == right.shape
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, (list, tuple, Vocabulary)):
        return len(left) == len(right) and all(map(same, left, right))
    if is_dataclass(left):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    return bool(left == right)


@given(values)
@example(tuple(HARD))
@example([0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308])
@example({True: 1, 0: True, 0.5: 1.0, "1": "1", None: None})
@example(ExactArray.from_floats([[1e308, -5e-324], [0.0, 3.0]]))
def test_what_is_saved_is_what_is_loaded(value: Any) -> None:
    document = pack(value)
    data = model_bytes(document, "example")
    kind, back = read_bytes(data)
    loaded = unpack(back, TYPES)
    assert same(value, loaded)
    assert kind == "example"
    assert document.digest() == back.digest() == pack(loaded).digest()
    assert model_bytes(pack(loaded), "example") == data


@given(values, values)
def test_two_values_have_one_digest_only_if_they_are_the_same(left: Any, right: Any) -> None:
    first, second = pack(left), pack(right)
    alike = same(unpack(first, TYPES), unpack(second, TYPES))
    assert (first.digest() == second.digest()) == alike
    assert (model_bytes(first, "example") == model_bytes(second, "example")) == alike


def statistic(sample: Rows) -> Grouped[Product]:
    parts = {
        "age": Moments.of(sample.values, sample.groups, N_GROUPS, sample.weights),
        "colour": Counts.of(sample.codes[:, 0].copy(), LEVELS, sample.groups, N_GROUPS, sample.weights),
    }
    return Grouped.of(GROUPS, Product(parts))


@given(rows(weighted=True))
def test_a_statistic_comes_back_to_the_last_bit(sample: Rows) -> None:
    seen = statistic(sample)
    _, document = read_bytes(model_bytes(pack(seen), "example"))
    back = unpack(document, (Grouped, Product, Moments, Counts, Vocabulary))
    assert fingerprint(back) == fingerprint(seen)
    assert fingerprint(back.merge(seen)) == fingerprint(seen.merge(seen))


# -- bytes of any origin ------------------------------------------------------------------------------------
def only_store_errors(data: bytes) -> None:
    """Load if it can be loaded; then it is saved to the same bytes."""
    try:
        kind, document = read_bytes(data)
        value = unpack(document, TYPES)
    except StoreError:
        return
    assert model_bytes(pack(value), kind) == data


@given(st.binary(max_size=200))
def test_any_bytes_are_a_model_or_a_store_error(data: bytes) -> None:
    only_store_errors(data)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_header_is_that_of_a_model_or_a_store_error(header: bytes, data: bytes) -> None:
    text = b"{" + header
    only_store_errors(len(text).to_bytes(8, "little") + text + data)


MODEL = model_bytes(
    pack(Box({"a": (1, 2.5), "b": np.array([1.0])}, Vocabulary(["x", 1]), ExactArray.from_floats([1.5]))),
    "example",
)


@given(st.lists(st.tuples(st.integers(0, len(MODEL) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_several_changed_bytes_are_always_noticed(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(MODEL)
    for position, byte in changes:
        damaged[position] = byte
    if damaged != MODEL:
        try:
            read_bytes(bytes(damaged))
        except StoreError:
            return
        raise AssertionError("the damage went unnoticed")


tags = ["$type", "$plain", "$map", "$list", "$tensor", "$exact", "$float", "$int", "$text", "low"]
members = st.sampled_from([*tags, "content", "labels", "sums"])
words = st.sampled_from(["Box", "Vocabulary", "/", "/0", "/content", "/sums", "inf", "nan", "0x1", "61", "eda080", ""])
twigs = st.one_of(words, st.none(), st.booleans(), st.integers(-500, 500), st.floats(allow_nan=False, width=16))
boxes = st.fixed_dictionaries({"$type": st.just("Box"), "content": twigs, "labels": twigs, "sums": twigs})
trees = st.recursive(
    twigs,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(members, inner, max_size=3),
        st.sampled_from(tags).flatmap(lambda tag: inner.map(lambda content: {tag: content})),
        st.tuples(inner, inner).map(lambda two: {"$type": "Vocabulary", "$plain": list(two)}),
        st.tuples(inner, st.integers(-500, 500)).map(lambda two: {"$exact": two[0], "low": two[1]}),
        st.tuples(inner, inner).map(lambda two: {"$map": [list(two)]}),
        st.tuples(boxes, inner).map(lambda two: {**two[0], "content": two[1], "labels": EMPTY, "sums": None}),
    ),
    max_leaves=10,
)
EMPTY = {"$type": "Vocabulary", "$plain": []}
tensors = st.dictionaries(
    st.sampled_from(["/", "/0", "/1", "/content", "/sums"]),
    st.sampled_from(["uint32", "float64"]).flatmap(lambda kind: hnp.arrays(kind, shapes)),
    max_size=2,
)


@settings(max_examples=400)
@given(trees, tensors)
def test_any_tree_is_a_value_or_a_store_error(tree: Any, parts: dict[str, Any]) -> None:
    """The forger knows the checksum; whatever is accepted is exactly what would have been written."""
    try:
        value = unpack(Document(json.loads(json.dumps(tree)), parts), TYPES)
    except StoreError:
        return
    assert pack(value) == Document(tree, parts)
