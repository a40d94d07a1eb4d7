"""The model file: one form, a checksum, versions, and what it says about itself."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import ParameterError, StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.store import file as store_file
from bayeswise.store.container import LIMITS, Limits
from bayeswise.store.document import Document, canonical_parts, pack, unpack
from bayeswise.store.file import PathLike, contents, describe, model_bytes, read_bytes, read_value
from bayeswise.tables.schema.labels import Vocabulary

FIRST = Path(__file__).with_name("format-1.bayeswise")


@dataclass(frozen=True)
class Model:
    classes: Vocabulary
    sums: ExactArray
    smoothing: float


MODEL = Model(Vocabulary(["no", "yes", 1, True]), ExactArray.from_floats([[0.1, -3.0]]), 1.0)
TYPES = {"example": (Model, Vocabulary)}


def write_model(path: PathLike, document: Document, kind: str, limits: Limits = LIMITS) -> None:
    write_bytes(path, model_bytes(document, kind, limits))


def write_value(path: PathLike, value: Model, kind: str) -> None:
    write_model(path, pack(value), kind)


def read_model(path: PathLike, limits: Limits = LIMITS) -> tuple[str, Document]:
    return read_bytes(contents(path, limits), name=path, limits=limits)


def test_a_value_is_saved_and_loaded(tmp_path: Path) -> None:
    write_value(tmp_path / "golf.bayeswise", MODEL, "example")
    assert read_value(tmp_path / "golf.bayeswise", TYPES) == ("example", MODEL)


def test_the_same_model_is_the_same_bytes(document: Document, model: bytes) -> None:
    shuffled = Document(document.tree, dict(reversed(document.tensors.items())))
    assert {model_bytes(document, "example"), model_bytes(shuffled, "example")} == {model}
    assert model_bytes(read_bytes(model)[1], "example") == model


def test_another_kind_or_value_is_other_bytes(document: Document, model: bytes) -> None:
    assert model_bytes(document, "other") != model
    assert model_bytes(pack(1), "example") != model_bytes(pack(1.0), "example") != model_bytes(pack(True), "example")


def test_the_first_format_stays_loadable() -> None:
    assert read_value(FIRST, TYPES) == ("example", MODEL)


@pytest.mark.skipif(store_file.FORMAT != 1, reason="the file is of the first format")
def test_the_first_format_has_not_drifted() -> None:
    assert model_bytes(pack(MODEL), "example") == FIRST.read_bytes()


def test_other_tools_can_open_it(tmp_path: Path) -> None:
    write_value(tmp_path / "golf.bayeswise", MODEL, "example")
    with safe_open(tmp_path / "golf.bayeswise", framework="np") as file:
        assert set(file.keys()) == {"document", "/sums"}
        assert '"kind":"example"' in file.metadata()["bayeswise"]
        assert file.get_tensor("/sums").dtype == np.uint32


def test_what_is_loaded_cannot_be_changed(model: bytes) -> None:
    value = unpack(read_bytes(model)[1], types=())
    with pytest.raises(ValueError, match="read-only"):
        value["floats"][0] = 2.0


def test_a_million_labels_fit(tmp_path: Path) -> None:
    labels = Vocabulary.trusted(tuple(f"label {n}" for n in range(1_000_000)))
    write_model(tmp_path / "ids.bayeswise", pack(labels), "example")
    assert unpack(read_model(tmp_path / "ids.bayeswise")[1], types=[Vocabulary]).labels == labels.labels


def test_a_file_describes_itself_without_its_types(tmp_path: Path) -> None:
    path = tmp_path / "golf.bayeswise"
    write_value(path, MODEL, "example")
    found = describe(path)
    assert (found["kind"], found["format"], found["size"]) == ("example", store_file.FORMAT, path.stat().st_size)
    assert found["tensors"] == [{"name": "/sums", "type": "uint32", "shape": [1, 2, 3]}]
    digest = hashlib.sha256(
        f"bayeswise {store_file.FORMAT} example\n".encode()
        + b"".join(canonical_parts(pack(MODEL).text, pack(MODEL).tensors))
    )
    assert found["checksum"] == digest.hexdigest()


def test_a_kind_has_a_simple_name() -> None:
    for kind in ("", "Naive Bayes", "a\n", "a" * 65):
        with pytest.raises(ParameterError, match="a kind of model"):
            model_bytes(pack(1), kind)


def test_a_model_of_another_kind_is_named(tmp_path: Path) -> None:
    write_value(tmp_path / "golf.bayeswise", MODEL, "example")
    with pytest.raises(StoreError, match="holds a model of kind 'example'; expected 'tree' or 'net'"):
        read_value(tmp_path / "golf.bayeswise", {"tree": (), "net": ()})


# -- versions -----------------------------------------------------------------------------------------------
def test_a_file_from_the_future_is_named_as_such(model: bytes) -> None:
    future = model.replace(f'{{\\"format\\":{store_file.FORMAT},'.encode(), b'{\\"format\\":7,')
    with pytest.raises(
        StoreError,
        match=r"cannot load 'the model': it was written by a later version of bayeswise "
        rf"\(format 7; this one reads up to {store_file.FORMAT}\)\. Fix: pip install --upgrade bayeswise",
    ):
        read_bytes(future)


def test_an_older_file_goes_through_every_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.bayeswise"
    monkeypatch.setattr(store_file, "FORMAT", 1)
    write_model(path, pack({"alpha": 1.0}), "example")

    def rename(kind: str, document: Document) -> tuple[str, Document]:
        value = unpack(document, types=())
        return "renamed", pack({"smoothing": value["alpha"]})

    def halve(kind: str, document: Document) -> tuple[str, Document]:
        value = unpack(document, types=())
        return kind, pack({"smoothing": value["smoothing"] / 2})

    monkeypatch.setattr(store_file, "FORMAT", 3)
    monkeypatch.setattr(store_file, "MIGRATIONS", {1: rename, 2: halve})
    assert read_value(path, {"renamed": ()}) == ("renamed", {"smoothing": 0.5})
    assert describe(path)["format"] == 1
    write_model(path, read_model(path)[1], "renamed")
    assert describe(path)["format"] == 3


def test_a_migration_that_meets_nonsense_says_damaged(model: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_file, "FORMAT", store_file.FORMAT + 1)
    wrong = {store_file.FORMAT - 1: lambda kind, document: document.tree["absent"]}
    monkeypatch.setattr(store_file, "MIGRATIONS", wrong)
    with pytest.raises(StoreError, match="it is damaged: KeyError: 'absent'"):
        read_bytes(model)


def test_every_older_format_has_its_migration() -> None:
    assert set(store_file.MIGRATIONS) == set(range(1, store_file.FORMAT))


# -- what is not a model file ----------------------------------------------------------------------------------
def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a", "b")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "it is empty"),
        (b"\x00", "it begins with b'"),
        (b"outlook,play\nsunny,no\n", "it looks like text (b'outlook,p'...)"),
        (b"{}", "it looks like text"),
        (pickle.dumps([1, 2, 3]), "a pickle, which is never loaded"),
        (archive(), "a zip archive"),
        (b"\x1f\x8b" + bytes(20), "a gzip archive"),
        (b"PAR1" + bytes(20), "a Parquet file"),
        (bytes(100), "it begins with b'"),
        (bytes(range(256)), "it begins with b'"),
        (b"\xff" * 100, "it begins with b'"),
    ],
)
def test_another_kind_of_file_is_recognised(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    for load in (read_model, describe):
        with pytest.raises(StoreError) as caught:
            load(path)
        assert str(caught.value).startswith(f"cannot load {str(path)!r}: it is not a model file: ")
        assert what in str(caught.value)


def test_a_safetensors_file_of_somebody_else_is_recognised(tmp_path: Path) -> None:
    for metadata in (None, {"format": "pt"}, {"bayeswise": "1", "more": "2"}):
        save_file({"w": np.zeros(3)}, tmp_path / "net.safetensors", metadata)
        with pytest.raises(StoreError, match="a safetensors file, but not one of bayeswise"):
            read_model(tmp_path / "net.safetensors")


def test_what_cannot_be_read_is_an_error_about_the_path(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no such file\. Fix: check the path"):
        read_model(tmp_path / "absent.bayeswise")
    with pytest.raises(StoreError, match="it is a directory"):
        read_model(tmp_path)
    with pytest.raises(StoreError, match="it cannot be read"):
        read_model("a\0b")
    with pytest.raises(StoreError, match="it cannot be read"):
        read_model(tmp_path / ("a" * 1000))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_an_error_about_the_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.bayeswise"
    path.touch(0o000)
    with pytest.raises(StoreError, match="Permission denied"):
        read_model(path)


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_model_can_come_through_a_pipe(tmp_path: Path, model: bytes) -> None:
    pipe = tmp_path / "pipe"

    def through(load: Callable[[], Any]) -> Any:
        writer = threading.Thread(target=lambda: pipe.write_bytes(model))
        writer.start()
        try:
            return load()
        finally:
            writer.join()

    os.mkfifo(pipe)
    assert through(lambda: read_model(pipe))[0] == "example"
    with pytest.raises(StoreError, match="more than 600 bytes"):
        through(lambda: read_model(pipe, Limits(file_bytes=600)))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_an_endless_device_is_not_read() -> None:
    with pytest.raises(StoreError, match="it is not a file"):
        read_model("/dev/zero")
