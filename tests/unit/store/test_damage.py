"""Any damage, by accident or by design, becomes a `StoreError`, soon and without much memory."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayeswise.foundation.errors import StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.store.container import LIMITS, Limits
from bayeswise.store.document import Document, pack, unpack
from bayeswise.store.file import model_bytes, read_bytes

Forger = Callable[..., bytes]
MEGABYTE = 1 << 20


@contextmanager
def bounded(seconds: float = 1.0, megabytes: int = 100) -> Iterator[None]:
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
        took, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took < seconds
    assert peak < megabytes * MEGABYTE


def refuse(data: bytes, match: str = "cannot load 'the model': ", limits: Limits = LIMITS) -> None:
    with pytest.raises(StoreError, match=match):
        read_bytes(data, limits=limits)


# -- accidents ----------------------------------------------------------------------------------------------
def test_every_length_but_the_right_one_is_damage(model: bytes) -> None:
    for length in range(len(model)):
        refuse(model[:length])
    for more in (b"\0", b" ", model):
        refuse(model + more)


def test_every_changed_byte_is_damage(model: bytes) -> None:
    for position, byte in enumerate(model):
        flips = {byte ^ (1 << bit) for bit in range(8)} | set(b"\0\t\n\r 0a\xff")
        for other in flips - {byte}:
            refuse(model[:position] + bytes([other]) + model[position + 1 :])


def test_two_pieces_in_the_wrong_order_are_damage(model: bytes) -> None:
    generator = random.Random(1)
    for _ in range(300):
        a, b, c = sorted(generator.sample(range(len(model)), 3))
        swapped = model[:a] + model[b:c] + model[a:b] + model[c:]
        if swapped != model:
            refuse(swapped)


def test_random_bytes_are_not_a_model() -> None:
    generator = random.Random(2)
    for _ in range(2_000):
        refuse(generator.randbytes(generator.randrange(200)))


def test_random_bytes_behind_an_honest_length_are_not_a_model(container: Forger) -> None:
    generator = random.Random(3)
    for _ in range(2_000):
        text = b"{" + bytes(generator.choices(b'{}[]":,0123456789aE+-.\\ \x80', k=generator.randrange(60)))
        refuse(container(text, generator.randbytes(8)))


# -- lies in the header -------------------------------------------------------------------------------------
NOTE = {"bayeswise": '{"format":1,"kind":"example","sha256":"' + "0" * 64 + '"}'}


def entry(shape: Any, offsets: Any, dtype: Any = "F64") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    ("tensors", "what"),
    [
        ({"/a": entry([10**12], [0, 8 * 10**12])}, "1e[+]12 elements"),
        ({"/a": entry([10**6, 10**6, 0], [0, 0])}, "empty tensors have 1e[+]12 rows"),
        ({"/a": entry([2**63, 2**63], [0, 0])}, "elements"),
        ({"/a": entry([10**4000], [0, 8])}, "1e[+]300 elements"),
        ({"/a": entry([1] * 65, [0, 8])}, "65 dimensions"),
        ({"/a": entry([2], [0, 16])}, "its tensors are damaged"),
        ({"/a": entry([1], [0, 4])}, "its tensors are damaged"),
        ({"/a": entry([1], [8, 0])}, "its tensors are damaged"),
        ({"/a": entry([0], [0, 0])}, "its tensors are damaged"),
        ({"/a": entry([1], [1, 9])}, "its tensors are damaged"),
        ({"/a": entry([1], [0, 8]), "/b": entry([1], [0, 8])}, "its tensors are damaged"),
        ({"/a": entry([1], [-8, 0])}, "its tensors are damaged"),
        ({"/a": entry([1], [0, 2**64 + 8])}, "its tensors are damaged"),
        ({"/a": entry([1], "08")}, "its tensors are damaged"),
        ({"/a": entry([1], [0, 8])}, "there is no document"),
        ({"document": entry([1], [0, 8])}, "there is no document"),
        ({"document": entry([2, 4], [0, 8], "U8")}, "there is no document"),
        ({"document": entry([8], [0, 8], "U8")}, "the checksum does not match"),
        ({"/a": entry([8], [0, 8], "BOOL")}, "a flag is neither 0 nor 1"),
        ({"/a": entry([1], [0, 8], "C64")}, "has the type 'C64'; allowed are"),
        ({"/a": entry([2], [0, 8], "F32")}, "has the type 'F32'; allowed are"),
        ({"/a": entry([1], [0, 8], ["F64"])}, "has the type"),
        ({"/a": entry([-1], [0, 8])}, "has the shape"),
        ({"/a": entry([True], [0, 8])}, "has the shape"),
        ({"/a": entry([1.0], [0, 8])}, "has the shape"),
        ({"/a": entry({}, [0, 8])}, "has the shape"),
        ({"/a": {"dtype": "F64"}}, "has the members 'dtype'"),
        ({"/a": {**entry([1], [0, 8]), "x": 1}}, "has the members"),
        ({"/a": 3}, "not one of a model file"),
        ({"../a b": entry([1], [0, 8])}, "not one of a model file"),
        ({"": entry([1], [0, 8])}, "not one of a model file"),
        ({"/a": {"dtype": {"a": {"b": {}}}}}, "nested 5 levels deep"),
    ],
)
def test_a_header_that_lies_is_refused_at_once(container: Forger, tensors: Any, what: str) -> None:
    data = container({"__metadata__": NOTE, **tensors}, data=b"\7" * 8)
    with bounded():
        refuse(data, what)


def test_a_header_is_filled_up_to_the_next_multiple_of_eight_and_no_further(model: bytes) -> None:
    length = int.from_bytes(model[:8], "little")
    header, data = model[8 : 8 + length], model[8 + length :]
    for wider in (header + b" " * 8, header.rstrip(b" ")):
        refuse(len(wider).to_bytes(8, "little") + wider + data, "the header is not in canonical form")


@pytest.mark.parametrize("length", [0, 1, 7, 9, 1 << 20, 1 << 40, (1 << 63) + 1, (1 << 64) - 1])
def test_a_lie_about_the_length_of_the_header_is_refused_at_once(container: Forger, length: int) -> None:
    with bounded():
        refuse(container({"__metadata__": NOTE}, length=length))


@pytest.mark.parametrize(
    ("header", "what"),
    [
        (b'{"__metadata__":{},"__metadata__":{}}', "a key occurs twice"),
        (b'{"a":NaN}', "NaN is not a number in JSON"),
        (b'{"a":-Infinity}', "-Infinity is not a number in JSON"),
        (b'{"a":1e400}', "not JSON as it is written here"),
        (b'{ "a":1}', "canonical"),
        (b'{"a":1}\t', "canonical"),
        (b'{"a":1.50}', "canonical"),
        (b'{"a":"\\u0041"}', "canonical"),
        (b'{"a":"\xc3\xa9"}', "not JSON as it is written here"),
        (b'{"a":' + b"9" * 5000 + b"}", "not JSON as it is written here"),
        (b'{"a":' + b"[" * 100_000, "nested 100001 levels deep"),
        (b'{"a":' + b'{"a":' * 100_000, "nested 100001 levels deep"),
        (b'{"a"', "not JSON as it is written here"),
        (b"{}", "not one of bayeswise"),
        (b'{"__metadata__":[]}', "not one of bayeswise"),
        (b'{"__metadata__":{"bayeswise":1}}', "not one of bayeswise"),
    ],
)
def test_a_header_that_is_not_json_of_ours_is_refused(container: Forger, header: bytes, what: str) -> None:
    with bounded():
        refuse(container(header), what)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "[]",
        "{}",
        "\ud800",
        '{"format":0}',
        '{"format":-1}',
        '{"format":true}',
        '{"format":"1"}',
        '{"format":1}',
        '{"format":1,"kind":"example","sha256":"abc"}',
        '{"format":1,"kind":"A","sha256":"' + "0" * 64 + '"}',
        '{"format":1,"kind":["example"],"sha256":"' + "0" * 64 + '"}',
        '{"format":1,"kind":"example","sha256":null}',
        '{"format":1,"kind":"example","sha256":"' + "0" * 64 + '","more":1}',
        "[" * 10_000,
    ],
)
def test_a_note_that_makes_no_sense_is_refused(container: Forger, note: str) -> None:
    refuse(container({"__metadata__": {"bayeswise": note}}))


# -- forgers who know the checksum --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("tree", "what"),
    [
        (b"", "not JSON as it is written here"),
        (b"[1,2", "not JSON as it is written here"),
        (b"[NaN]", "NaN is not a number"),
        (b'{"a":1,"a":2}', "a key occurs twice"),
        (b"[1e999]", "not JSON as it is written here"),
        (b"[1 ]", "canonical"),
        (b"[-0]", "canonical"),
        (b"\xff\xfe[\0]\0", "not JSON as it is written here"),
        (b'"\\ud800\\udc00', "not JSON as it is written here"),
        (b"[" * 50_000 + b"]" * 50_000, "nested 50000 levels deep"),
        (b'"' + b"[" * 50_000, "levels deep"),
        (b"9" * 100_000, "not JSON as it is written here"),
    ],
)
def test_a_document_that_is_not_json_of_ours_is_refused(forged: Forger, tree: bytes, what: str) -> None:
    with bounded():
        refuse(forged(tree), what)


def test_brackets_in_a_label_are_not_nesting(forged: Forger) -> None:
    label = '[[{"' * 1_000 + "\\"
    assert read_bytes(forged([label]))[1].tree == [label]


def test_one_tensor_cannot_be_requested_a_thousand_times(forged: Forger) -> None:
    words = np.ones((1_000_000, 1), dtype=np.uint32)
    reference = {"$exact": {"$tensor": "/0"}, "low": 0}
    _, document = read_bytes(forged([reference] * 1_000, {"/0": words}))
    with bounded(seconds=5), pytest.raises(StoreError, match="a reference leads to the tensor '/0'"):
        unpack(document, types=())


def test_zeros_that_take_no_bytes_are_counted_all_the_same(forged: Forger) -> None:
    tree = {"$exact": {"$tensor": "/"}, "low": 0}
    with bounded():
        refuse(forged(tree, {"/": np.zeros((1 << 25, 0), dtype=np.uint32)}), "empty tensors have")


# -- limits -------------------------------------------------------------------------------------------------
TIGHT = [
    ("file_bytes", 400, "bytes, more than 400"),
    ("header_bytes", 100, "a header of"),
    ("tensors", 2, "5 tensors, more than 2"),
    ("elements", 20, "elements, more than 20"),
    ("empty_elements", 5, "empty tensors have 6 rows, more than 5"),
    ("dimensions", 2, "3 dimensions, more than 2"),
    ("tree_bytes", 100, "bytes, more than 100"),
    ("tree_nodes", 20, "parts, more than 20"),
    ("tree_depth", 3, "levels deep, more than 3"),
]


@pytest.mark.parametrize(("name", "most", "what"), TIGHT)
def test_every_limit_can_be_set_and_holds_for_readers(model: bytes, name: str, most: int, what: str) -> None:
    refuse(model, what, limits=replace(LIMITS, **{name: most}))


@pytest.mark.parametrize(("name", "most", "what"), TIGHT)
def test_what_could_not_be_read_is_not_written(document: Document, name: str, most: int, what: str) -> None:
    with pytest.raises(StoreError, match=f"the model cannot be saved: .*{what}"):
        model_bytes(document, "example", replace(LIMITS, **{name: most}))


def test_a_model_at_its_limits_is_written_and_read(document: Document, model: bytes) -> None:
    exact = replace(LIMITS, file_bytes=len(model), tensors=5, empty_elements=6, dimensions=3)
    assert read_bytes(model_bytes(document, "example", exact), limits=exact)[1] == document


def test_a_field_name_that_no_header_can_hold_is_refused_when_saving() -> None:
    document = Document({"$tensor": "/naïve"}, {"/naïve": np.array([1.0])})
    with pytest.raises(StoreError, match="the model cannot be saved"):
        model_bytes(document, "example")


def test_an_honest_file_takes_little_more_memory_than_its_size() -> None:
    data = model_bytes(pack(ExactArray.from_integers(np.arange(1_000_000))), "example")
    with bounded(seconds=5, megabytes=4 * len(data) // MEGABYTE):
        read_bytes(data)
