"""The frame around the verbs: exit codes, messages, and what is loaded when."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayeswise as bw
from bayeswise.cli import app
from bayeswise.foundation import errors
from tests.paths import EXAMPLES, GOLF

Command = Callable[..., SimpleNamespace]
FOLDER = Path(app.__file__).parent / "commands"


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Replace all verbs by one, called `do`."""

    def install(run: Callable[[], None]) -> None:
        monkeypatch.setattr(app, "VERBS", {"do": app.Entry("Do it.")})
        monkeypatch.setattr(app, "load", lambda name: run)

    return install


def raising(error: BaseException) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ParameterError("alpha is -1"), 2),
        (errors.SourceError("no such file"), 3),
        (errors.NotMergedError("never seen"), 4),
        (errors.CheckFailed("too costly"), 5),
        (KeyboardInterrupt(), 130),
        (RuntimeError("can't start new thread"), 2),
        (ZeroDivisionError("division by zero"), 1),
    ],
)
def test_every_kind_of_failure_has_its_exit_code(
    bayeswise: Command, verb: Callable[..., None], error: BaseException, code: int
) -> None:
    verb(raising(error))
    assert bayeswise("do").code == code


def test_a_known_error_is_one_line_on_stderr(bayeswise: Command, verb: Callable[..., None]) -> None:
    verb(raising(errors.SourceError("golf.csv is empty", fix="give a table with a header")))
    answer = bayeswise("do")
    assert answer.out == ""
    assert answer.err == "bayeswise: golf.csv is empty. Fix: give a table with a header.\n"


@pytest.mark.parametrize("words", [("do", "-v"), ("--verbose", "do")])
def test_verbose_shows_the_traceback_wherever_it_stands(
    bayeswise: Command, verb: Callable[..., None], words: tuple[str, ...]
) -> None:
    verb(raising(errors.SourceError("golf.csv is empty")))
    answer = bayeswise(*words)
    assert "Traceback" in answer.err
    assert answer.err.endswith("bayeswise: golf.csv is empty\n")


def test_a_bug_says_so_and_how_to_see_more(bayeswise: Command, verb: Callable[..., None]) -> None:
    verb(raising(ZeroDivisionError("division by zero")))
    answer = bayeswise("do")
    assert "this is a bug: ZeroDivisionError: division by zero" in answer.err
    assert "Add -v" in answer.err
    assert "Traceback" not in answer.err


def test_a_reader_that_leaves_early_is_not_a_failure(bayeswise: Command, verb: Callable[..., None]) -> None:
    verb(raising(BrokenPipeError(32, "Broken pipe")))
    answer = bayeswise("do")
    assert (answer.code, answer.err) == (0, "")


def test_a_misspelt_verb_is_a_usage_error_with_a_suggestion(bayeswise: Command, verb: Callable[..., None]) -> None:
    verb(lambda: None)
    answer = bayeswise("doo")
    assert answer.code == 2
    assert "do" in answer.err.split("Did you mean")[1]


def test_help_lists_the_verbs_in_the_order_of_the_table(bayeswise: Command) -> None:
    listed = [line.split()[0] for line in bayeswise("--help").out.partition("Commands:")[2].splitlines() if line]
    assert listed == list(app.VERBS)


def test_the_table_of_verbs_names_every_file_that_runs() -> None:
    files = [path.relative_to(FOLDER) for path in FOLDER.rglob("*.py") if defines_run(path)]
    runs = {".".join(path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts) for path in files}
    assert runs == set(map(app.file_of, app.VERBS))


def defines_run(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body)


@pytest.mark.parametrize("name", list(app.VERBS))
def test_a_verb_explains_itself(bayeswise: Command, name: str) -> None:
    assert app.load(name).__doc__
    answer = bayeswise(name, "--help")
    assert answer.code == 0
    assert f"bayeswise {name}" in answer.out


def test_help_and_import_load_none_of_the_heavy_packages() -> None:
    script = """
import sys
from bayeswise.cli import main
main(["--help"])
heavy = {"numpy", "scipy", "sklearn", "duckdb", "narwhals", "pandas", "polars", "pyarrow", "matplotlib", "rich"}
print("loaded:", *sorted(heavy & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "loaded:"


ORDINARY = (
    "look GOLF",
    "fit GOLF --model naive-bayes -t play -o MODEL",
    "predict MODEL NEW --proba",
    "decide MODEL NEW --costs COSTS",
    "explain MODEL NEW --row-number 1",
    "check MODEL GOLF --costs COSTS",
    "inspect MODEL",
)


def test_a_model_of_a_small_table_is_learned_and_used_without_packages_that_take_long_to_import(
    tmp_path: Path,
) -> None:
    places = {
        "GOLF": GOLF,
        "NEW": EXAMPLES / "golf-tomorrow.csv",
        "COSTS": EXAMPLES / "golf.toml",
        "MODEL": tmp_path / "golf.bayeswise",
    }
    commands = [[str(places.get(word, word)) for word in line.split()] for line in ORDINARY]
    script = f"""
import sys
from bayeswise.cli import main
codes = [main(words) for words in {commands!r}]
heavy = {{"pydantic", "scipy", "sklearn", "duckdb", "narwhals", "pandas", "polars", "pyarrow", "matplotlib",
    "numpy.ma", "concurrent.futures"}}
others = {{"families.continuous.gamma", "families.belief_history", "statistics.numbers.sample",
    "decisions.information", "models.gaussian_bayes", "evaluation.parameter_draws", "explanations.class_densities",
    "explanations.nomogram", "posteriors.joint_table"}}
print("loaded:", *codes, *sorted((heavy | {{f"bayeswise.{{name}}" for name in others}}) & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "loaded: 0 0 0 0 0 0 0"


def test_the_default_fit_of_a_small_table_leaves_out_what_only_large_or_other_tables_need(tmp_path: Path) -> None:
    model = tmp_path / "golf.bayeswise"
    script = f"""
import sys
from bayeswise.cli import main
code = main(["fit", {str(GOLF)!r}, "-t", "play", "-o", {str(model)!r}])
heavy = {{"pydantic", "scipy", "sklearn", "duckdb", "narwhals", "pandas", "polars", "pyarrow", "matplotlib",
    "numpy.ma", "numpy.random", "concurrent.futures"}}
others = {{"networks.network", "networks.inference", "networks.learning.em", "networks.learning.learned_network",
    "tables.encoding.one_row", "tables.sources.memory"}}
print("loaded:", code, *sorted((heavy | {{f"bayeswise.{{name}}" for name in others}}) & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "loaded: 0"


def test_a_logistic_model_answers_without_scipy(tmp_path: Path) -> None:
    model = tmp_path / "golf.bayeswise"
    bw.fit(str(GOLF), target="play", model="logistic").save(model)
    script = f"""
import sys
from bayeswise.cli import main
code = main(["predict", {str(model)!r}, {str(EXAMPLES / "golf-tomorrow.csv")!r}])
print("loaded:", code, *sorted({{"scipy"}} & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "loaded: 0"


def test_nothing_is_said_about_what_python_did_not_free_at_the_end(tmp_path: Path) -> None:
    model = tmp_path / "golf.bayeswise"
    bw.fit(str(GOLF), target="play", model="naive-bayes").save(model)
    command = [sys.executable, "-m", "bayeswise", "check", str(model), str(GOLF)]
    assert "leaked" not in subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["look", "golf.csv", "--threads", "many"], "--threads"),
        (["look", "golf.csv", "--threads", "0"], "--threads"),
        (["explain", "m", "--row-number", "-1"], "--row-number"),
        (["explain", "m", "--row-number", "1.5"], "--row-number"),
        (
            ["fit", "golf.csv", "-t", "play", "--model", "naive-bayes", "--variance-divisor", "n-2"],
            "--variance-divisor",
        ),
        (["predict"], "Missing argument"),
    ],
)
def test_what_is_not_text_is_still_converted_and_refused_by_name(
    bayeswise: Command, words: list[str], said: str
) -> None:
    answer = bayeswise(*words)
    assert answer.code == 2
    assert said in answer.err


def test_looking_for_garbage_is_as_before_after_a_command(bayeswise: Command) -> None:
    before = gc.get_threshold()
    bayeswise("--version")
    assert gc.get_threshold() == before


def test_a_process_that_ends_with_its_command_is_not_searched_for_garbage() -> None:
    script = (
        "import gc, sys; from bayeswise.cli import main; gc.collect(); searches = []; "
        "gc.callbacks.append(lambda phase, found: searches.append(phase)); main(); kept = [[] for _ in range(100)]; "
        "sys.exit(len(searches))"
    )
    subprocess.run([sys.executable, "-c", script, "--version"], check=True)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("bayeswise de", "decide"),
        ("bayeswise explain --co", "--costs"),
        ("bayeswise network qu", "query"),
        ("bayeswise network query --ev", "--evidence"),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_verbs_and_their_options(
    bayeswise: Command, monkeypatch: pytest.MonkeyPatch, shell: str, typed: str, offered: str
) -> None:
    monkeypatch.setenv("_BAYESWISE_COMPLETE", f"complete_{shell}")
    if shell == "bash":
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    else:
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", typed)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    answer = bayeswise()
    assert answer.code == 0 and offered in answer.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_completion_script(bayeswise: Command, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_BAYESWISE_COMPLETE", f"source_{shell}")
    answer = bayeswise()
    assert answer.code == 0 and f"complete_{shell}" in answer.out and "not supported" not in answer.err


def test_threads_of_blas_sleep_soon_unless_the_user_says_otherwise(
    bayeswise: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    bayeswise("--version")
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "20"
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "26")
    bayeswise("--version")
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "26"
