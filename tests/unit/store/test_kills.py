"""Writers that are killed, and writers that race: a reader sees a whole model at any time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from bayeswise.foundation.atomic import write_bytes
from bayeswise.store.document import pack
from bayeswise.store.file import contents, model_bytes, read_bytes

N_KILLS = 60

# One interpreter is started; each writer is a copy of it, killed after the time of up to four writes.
KILLED = """
import os, random, signal, sys, time
import numpy as np
from bayeswise.foundation.atomic import write_bytes
from bayeswise.store.document import pack
from bayeswise.store.file import contents, model_bytes, read_bytes

path, n_kills = sys.argv[1], int(sys.argv[2])
models = [pack(np.full(100_000, value)) for value in (1.0, 2.0)]
whole = [model.digest() for model in models]
write_bytes(path, model_bytes(models[0], "example"))
start = time.perf_counter()
for model in 2 * models:
    write_bytes(path, model_bytes(model, "example"))
one_write = (time.perf_counter() - start) / 4

generator = random.Random(1)
seen, cut = set(), 0
for _ in range(n_kills):
    child = os.fork()
    if not child:
        while True:
            for model in models:
                write_bytes(path, model_bytes(model, "example"))
    time.sleep(generator.uniform(0.0, 4.0) * one_write)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    seen.add(whole.index(read_bytes(contents(path))[1].digest()))
    partials = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".partial")]
    cut += len(partials)
    for name in partials:
        os.unlink(os.path.join(os.path.dirname(path), name))
print(sorted(seen), cut)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9")
def test_a_killed_writer_leaves_the_old_model_or_the_new_one(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", KILLED, tmp_path / "model", str(N_KILLS)]
    answer = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    seen, cut = answer.stdout.rsplit(maxsplit=1)
    assert seen == "[0, 1]"
    assert int(cut) >= N_KILLS // 10, "the kills did not hit a write"


@pytest.mark.skipif(os.name == "nt", reason="Windows does not replace a file while somebody reads it")
def test_of_several_writers_the_last_whole_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "model"
    documents = [pack(np.full(20_000, float(value))) for value in range(4)]
    whole = {model_bytes(document, "example") for document in documents}
    write_bytes(path, model_bytes(documents[0], "example"))
    failures: list[BaseException] = []

    def write(document: object) -> None:
        try:
            for _ in range(15):
                write_bytes(path, model_bytes(document, "example"))  # type: ignore[arg-type]
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(document,)) for document in documents]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        content = path.read_bytes()
        assert content in whole
        read_bytes(content)
    for writer in writers:
        writer.join()
    assert failures == []
    assert read_bytes(contents(path))[0] == "example"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
