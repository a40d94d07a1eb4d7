"""The site that `make docs` builds: every page is reached, every public name described, every table of code true.

The build itself needs Sphinx and runs the scripts; what can be checked without it is checked here.
"""

from __future__ import annotations

import doctest
import inspect
import os
import re
import runpy
import shutil
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from site_tools.inventory import (
    Entry,
    Parameter,
    entry_of,
    fitted,
    listed,
    members,
    place_of,
    public_names,
    shared_meanings,
)

import bayeswise as bw
from bayeswise.acquisition import choosing
from bayeswise.exports import dialects
from bayeswise.models.description_length import bits
from bayeswise.networks.inference import estimate
from bayeswise.networks.learning import family_counts, graph_search
from bayeswise.networks.learning.learned_network import MISSING_POLICIES
from bayeswise.posteriors import calibration
from tests.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
SCRIPTS = sorted([*(DOCS / "gallery").glob("*.py"), *(DOCS / "lectures").glob("*.py")])
HEADER = "bayeswise"  # of the column whose code is run


def lines_of(directive: str, page: Path) -> list[str]:
    """The lines in the blocks of a directive, without its options."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(rf"^```\{{{directive}\}}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [re.sub(r".*<(.+)>", r"\1", line.strip()) for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith(":")]


def in_toctrees() -> set[Path]:
    """Every page that some toctree names."""
    return {found for page in PAGES for line in lines_of("toctree", page) for found in page.parent.glob(f"{line}.md")}


def test_every_page_is_in_a_table_of_contents() -> None:
    assert sorted(set(PAGES) - in_toctrees() - {DOCS / "index.md"}) == []


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as MyST and forges make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_headings_lead_to_headings(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    assert [f"{path}#{name}" for path, name in links if name not in anchors(page.parent / path if path else page)] == []


def test_every_public_name_is_in_the_reference_once() -> None:
    pages = (DOCS / "reference").glob("*.md")
    assert sorted(name for page in pages for name in listed(lines_of("public", page))) == sorted(public_names())


@pytest.mark.parametrize("name", public_names())
def test_every_parameter_of_a_public_name_is_described(name: str) -> None:
    entry = entry_of(name)
    entries = [entry, *members(entry)]
    assert {each.name: each.undescribed for each in entries if each.undescribed} == {}
    if name in bw.__all__:
        assert [each.name for each in entries if not each.docstring.parts] == []


def test_every_parameter_of_a_fitted_model_is_described() -> None:
    lines = lines_of("fitted", DOCS / "reference" / "models.md")
    entries = [method for line in lines for method in fitted(line)[1]]
    assert {each.name: each.undescribed for each in entries if each.undescribed} == {}
    assert [each.name for each in entries if not each.docstring.parts] == []


def every_parameter() -> Iterator[tuple[Entry, Parameter]]:
    """Every parameter of what the reference has."""
    lines = lines_of("fitted", DOCS / "reference" / "models.md")
    entries = [entry_of(name) for name in public_names()]
    for entry in [*entries, *(m for e in entries for m in members(e)), *(m for line in lines for m in fitted(line)[1])]:
        yield from ((entry, parameter) for parameter in entry.parameters)


# Keywords that no signature can spell out, and why.
ANY_KEYWORD = {
    "set_params": "parameters of nested estimators too, as in every estimator of scikit-learn",
    "DecisionMaker.fit": "what the estimator inside takes",
    "JointTable.chain": "columns of the table",
    "changed": "settings of the model's own kind",
}


def test_keywords_are_spelled_out_and_typed() -> None:
    found = {
        entry.name
        for entry, parameter in every_parameter()
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and parameter.type in ("", "Any")
    }
    assert sorted(name for name in found if not name.endswith(tuple(ANY_KEYWORD))) == []


# How a text begins, and what of that is in the type of such a parameter; one that takes anything has no type.
TYPES = {
    r"whether ": ("bool", "Bool"),
    r"(among )?how (many|often)": ("int", "float", "Int", "Float", "Exact", "Array"),
    r"names? of (?!states are)": ("str", "Label"),
    r"\{": ("Mapping", "dict", "Evidence", "Soft", "Changes", "Likelihood"),
    r"(the )?positions? ": ("int", "Int"),
}


def test_a_text_about_a_parameter_fits_its_type() -> None:
    wrong = [
        f"{entry.name}({parameter.name}: {parameter.type}): {parameter.meaning}"
        for entry, parameter in every_parameter()
        for begin, types in TYPES.items()
        if parameter.type and re.match(begin, parameter.meaning or "") and not any(t in parameter.type for t in types)
    ]
    assert wrong == []


def test_a_parameter_whose_text_says_what_it_is_by_default_has_a_default() -> None:
    wrong = [
        f"{entry.name}({parameter.name}): {parameter.meaning}"
        for entry, parameter in every_parameter()
        if "by default" in (parameter.meaning or "") and not parameter.default and parameter.kind.name[:3] != "VAR"
    ]
    assert wrong == []


def words_of(entry: Entry, parameter: Parameter) -> list[str]:
    """The words that the type of a parameter allows: those of its `Literal`, also behind a name."""
    function = getattr(entry.value, "__init__", entry.value) if entry.kind == "class" else entry.value
    names = {**vars(typing), **vars(sys.modules[entry.value.__module__]), **getattr(function, "__globals__", {})}
    annotation = entry.shown.parameters[parameter.name].annotation if entry.shown else ""
    try:
        allowed = eval(annotation, names) if isinstance(annotation, str) else annotation
    except (NameError, TypeError):  # imported for type checkers only
        return []
    literals = [allowed, *typing.get_args(allowed)]
    words = [word for each in literals if typing.get_origin(each) is typing.Literal for word in typing.get_args(each)]
    return [word for word in words if isinstance(word, str)]


SAME_AS = {"platt": "sigmoid"}  # another word for it


def test_a_text_that_names_one_of_the_allowed_words_names_them_all() -> None:
    wrong, checked = [], 0
    for entry, parameter in every_parameter():
        words = words_of(entry, parameter)
        said = re.findall(r"[\w-]+", parameter.meaning or "")
        missing = [word for word in words if word not in said and SAME_AS.get(word) not in said]
        if set(words).intersection(said) and missing and parameter.default not in [repr(word) for word in missing]:
            wrong.append(f"{entry.name}({parameter.name}): {parameter.meaning}; not {missing}")
        checked += len(words) > 1
    assert wrong == [] and checked > 20


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("dialect", dialects.NAMES),
        ("strategy", choosing.STRATEGIES),
        ("code", bits.CODES),
        ("DynamicNetwork.learn.prior", family_counts.PRIORS),
        ("BeliefNetwork.estimate.method", estimate.METHODS),
        ("BeliefNetwork.learn.method", graph_search.METHODS),
        ("BeliefNetwork.learn.missing", MISSING_POLICIES),
        ("evaluation.calibrated.method", ("auto", *calibration.METHODS)),
    ],
)
def test_a_list_of_words_in_the_table_of_parameters_is_that_of_the_code(place: str, words: Sequence[str]) -> None:
    text = re.sub(r" \(.*?\)|, as far as .*", "", shared_meanings()[place].rpartition(":")[2])
    assert sorted(re.split(r", | or ", text.strip())) == sorted(words)


def test_every_entry_of_the_table_of_parameters_is_used() -> None:
    used = {place_of(entry.name, parameter.name) for entry, parameter in every_parameter()}
    assert sorted(set(shared_meanings()) - used) == []


def code_in_tables(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The code of each line in the columns headed `bayeswise`, and the other cells of the line."""
    place = None
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if not cells:
            place = None
        elif HEADER in cells:
            place = cells.index(HEADER)
        elif place is not None and not set(cells[place]) <= {"-", ":", " "}:
            code = re.fullmatch(r"`+ ?(.*?) ?`+", cells[place])
            assert code, f"{page.name}: {cells[place]!r} is not code"
            yield code[1], cells[:place] + cells[place + 1 :]


def run_code(code: str, names: dict[str, Any], bayeswise: Callable[..., Any]) -> str:
    """What a line of Python or a command answers."""
    if code.startswith("bayeswise "):
        answer = bayeswise(*code.split()[1:])
        assert answer.code == 0, answer.err
        return str(answer.out)
    try:
        return repr(eval(compile(code, "table", "eval"), names))
    except SyntaxError:
        exec(compile(code, "table", "exec"), names)
        return ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the examples, where pictures are drawn without a screen."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    import matplotlib

    matplotlib.use("agg")
    return tmp_path


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("page", [page for page in PAGES if any(code_in_tables(page))], ids=lambda page: page.stem)
def test_code_in_tables_runs_and_gives_the_numbers_beside_it(
    page: Path, folder: Path, bayeswise: Callable[..., Any]
) -> None:
    names: dict[str, Any] = {}
    parsed = doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8"))
    for example in parsed:
        exec(compile(example.source, page.name, "exec"), names)
    wrong = []
    for code, others in code_in_tables(page):
        answer = run_code(code, names, bayeswise)
        promised = re.findall(r"\*\*(.+?)\*\*", " ".join(others))  # in bold: what comes out
        wrong += [f"{code} gives {answer}, not {number}" for number in promised if number not in answer]
    assert wrong == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_scripts_of_the_gallery_run(script: Path, folder: Path) -> None:
    os.environ.setdefault("MPLBACKEND", "agg")
    runpy.run_path(str(script), run_name="__main__")
