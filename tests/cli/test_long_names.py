"""Names, labels, cells and paths of 10 kB, and with control characters: no message repeats them whole or raw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayeswise as bw

Command = Callable[..., SimpleNamespace]

LONG = "\x1b[31m" + "n" * 10_000
COLUMN, LABEL, OTHER = "column " + LONG, "label " + LONG, "other " + LONG


@pytest.fixture
def table(write: Callable[..., Path]) -> Path:
    """Two columns and a target, every word of which is long."""
    rows = [f'"{LABEL}",1,"{OTHER}"', f'"{OTHER}",2,"{LABEL}"', f'"{LABEL}",3,"{LABEL}"'] * 4
    return write(f'"{COLUMN}",x,"{OTHER}"\n' + "\n".join(rows) + "\n", "long.csv")


@pytest.fixture
def model(table: Path, tmp_path: Path) -> Path:
    path = tmp_path / "long.bayeswise"
    bw.fit(str(table), target=OTHER, unseen="error", model="naive-bayes").save(path)
    return path


MISTAKES = [
    ("look", LONG),
    ("look", LONG + "*"),
    ("look", "{table}", "-t", LONG),
    ("look", "{table}", "--delimiter", LONG),
    ("look", "{table}", "--encoding", LONG),
    ("look", "{table}", "--table", LONG),
    ("look", "{table}", "--number", COLUMN),
    ("look", "{table}", "--category", LONG),
    ("fit", "{table}", "-t", LONG, "--model", "naive-bayes"),
    ("fit", "{table}", "-t", COLUMN, "--model", "naive-bayes", "-o", LONG),
    ("fit", "{table}", "-t", OTHER, "--model", "naive-bayes", "--number", COLUMN, "-o", "{new}"),
    ("fit", "{table}", "-t", OTHER, "--model", "linear", "--category", COLUMN, "-o", "{new}"),
    ("fit", "{table}", "-t", OTHER, "--model", "naive-bayes", "--prior", f"{LONG}=.5", "-o", "{new}"),
    ("fit", "{table}", "-t", OTHER, "--model", "naive-bayes", "--weight", COLUMN, "-o", "{new}"),
    ("predict", LONG, "{table}"),
    ("predict", "{model}", "{other}"),
    ("predict", "{model}", "{unseen}"),
    ("predict", "{model}", "{table}", "-o", LONG),
    ("predict", "{model}", "{table}", "--columns", LONG),
    ("decide", "{model}", "{table}", "--costs", "{costs}"),
    ("decide", "{model}", "{table}", "--costs", LONG),
    ("check", "{model}", "{other}", "--costs", "{costs}"),
    ("explain", "{model}", "--row", f"{LONG}=1"),
    ("explain", "{model}", "{table}", "--against", LONG),
    ("forget", "{model}", "{other}", "-o", "{new}"),
    ("merge", "{model}", LONG, "-o", "{new}"),
    ("inspect", LONG),
    ("compare", "{table}", "-t", LONG),
    ("concept", "{table}", "-t", LONG),
    ("network", "learn", "{table}", "-o", LONG),
    ("network", "query", LONG),
    ("diagram", "solve", LONG),
    ("label", "{table}", "-t", LONG, "-o", "{table}"),
    ("serve", LONG),
    (LONG,),
    ("network", LONG),
    ("look", "{table}", f"--{LONG}"),
    ("bayes", LONG),
]


@pytest.mark.parametrize("words", MISTAKES, ids=lambda words: " ".join(word[:8] for word in words).replace("\x1b", ""))
def test_a_message_repeats_no_long_word_and_no_control_character(
    bayeswise: Command, table: Path, model: Path, write: Callable[..., Path], tmp_path: Path, words: tuple[str, ...]
) -> None:
    places = {
        "table": table,
        "model": model,
        "new": tmp_path / "new",
        "other": write("a,b\n1,2\n", "other.csv"),
        "unseen": write(f'"{COLUMN}",x\n"unseen {LONG}",1\n', "unseen.csv"),
        "costs": write(f'action,"{LONG}"\n"{LABEL}",1\n', "costs.csv"),
    }
    answer = bayeswise(*(word.format(**places) if word.startswith("{") else word for word in words))
    assert answer.code in (2, 3, 4), answer.err[-2000:]
    assert "n" * 1000 not in answer.err
    assert len(answer.err) < 4000
    assert all(letter.isprintable() or letter == "\n" for letter in answer.err)
