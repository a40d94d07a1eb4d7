"""The surface: what `import bayeswise` promises, and what it does not load."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import bayeswise
from bayeswise.cli.options.settings import earlier_options
from bayeswise.models import registry
from tests.paths import ROOT

OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "python_calamine")

# The names that scripts rely on, written out: a name that disappears or is renamed fails a test.
NAMES = """
    ActiveLearner AutoClassifier AveragedNaiveBayes BayeswiseError BeliefNetwork CheckFailed ClassDensities ClassPlane
    ConceptClassifier Costs DataError DecisionMaker DescriptionLengthTree DynamicNetwork FitError GaussianBayes
    HypothesisSpace InfluenceDiagram JointTable LinearRegression LogisticRegression MEstimate MixedNetwork NaiveBayes
    NetworkClassifier NotMergedError UsageError __version__ average bayes compare_twins decide evaluate
    expected_cost_scorer explain_action families fit learning_curves limit_threads load rows_to_ask
"""
FAMILY_NAMES = """
    BeliefHistory Bernoulli Beta BetaParameters BetaPrior Binomial Categorical CategoricalParameters Chance Dirichlet
    Estimate Exponential ExponentialForm ExponentialParameters Family Gamma GammaParameters GammaPrior Geometric Laplace
    LaplaceParameters Likelihood LogNormal LogNormalParameters Multinomial MultivariateNormal
    MultivariateNormalParameters NaturalForm Normal NormalInverseGamma NormalInverseWishart NormalMean NormalParameters
    NormalPrior Poisson PoissonParameters StudentT StudentTParameters distribution
"""
MODEL_NAMES = """
    naive-bayes naive averaged averaged-naive-bayes gaussian gaussian-bayes logistic logistic-regression linear
    linear-regression tan aode k-dependence markov-blanket tree description-length-tree auto
"""
# Each setting that has had another name: kind of model, earlier name, current name.
RENAMED_SETTINGS = {
    ("gaussian", "divisor", "variance_divisor"),
    ("logistic", "freedom", "df"),
    ("logistic", "intercept", "fit_intercept"),
    ("logistic", "moderated", "marginalize"),
    ("logistic", "tolerance", "tol"),
    ("logistic", "most_iterations", "max_iter"),
    ("linear", "freedom", "df"),
    ("linear", "intercept", "fit_intercept"),
    ("tan", "strength", "smoothing"),
    ("aode", "strength", "smoothing"),
    ("k-dependence", "strength", "smoothing"),
    ("markov-blanket", "strength", "smoothing"),
    ("markov-blanket", "criterion", "score"),
}
RENAMED_OPTIONS = {
    ("--freedom", "--df"),
    ("--divisor", "--variance-divisor"),
    ("--moderated", "--marginalize"),
    ("--tolerance", "--tol"),
    ("--most-iterations", "--max-iter"),
    ("--strength", "--smoothing"),
    ("--criterion", "--score"),
    ("--parents", "--max-parents"),
    ("--bdeu", "--prior bdeu --smoothing"),
}


def loaded_by(script: str, packages: tuple[str, ...]) -> list[str]:
    """Run a script in a fresh interpreter and say which of the packages it loaded."""
    ask = f"import sys; {script}; print(*sorted({set(packages)!r} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr.splitlines()[-1]
    return answer.stdout.split()


def compare(found: Iterable[object], kept: Iterable[object], what: str, where: str) -> None:
    """Fail with what to do if a kept name is not found, or a new one is not kept."""
    missing, added = (
        sorted(set(map(str, kept)) - set(map(str, found))),
        sorted(set(map(str, found)) - set(map(str, kept))),
    )
    assert not missing, f"scripts rely on {what} {', '.join(missing)}: keep the name, or an alias that warns"
    assert not added, f"{what} {', '.join(added)}: new; add it to {where} in this file, so that it stays"


def test_the_public_names_are_those_that_scripts_rely_on() -> None:
    compare(bayeswise.__all__, NAMES.split(), "bayeswise names", "NAMES")


def test_the_names_of_families_are_those_that_scripts_rely_on() -> None:
    compare(bayeswise.families.__all__, FAMILY_NAMES.split(), "bayeswise.families names", "FAMILY_NAMES")


def test_the_names_of_models_are_those_that_scripts_rely_on() -> None:
    compare(registry.NAMES, MODEL_NAMES.split(), "model names", "MODEL_NAMES")


def test_the_earlier_names_of_settings_are_those_that_scripts_rely_on() -> None:
    found = {
        (kind.name, each.earlier, name)
        for kind in registry.MODELS
        for name, each in kind.declared().items()
        if each.earlier is not None
    }
    compare(found, RENAMED_SETTINGS, "earlier settings", "RENAMED_SETTINGS")


def test_the_earlier_options_of_fit_are_those_that_scripts_rely_on() -> None:
    compare(earlier_options([]).items(), RENAMED_OPTIONS, "earlier options", "RENAMED_OPTIONS")


@pytest.mark.parametrize(
    ("kept", "what"), [(["fit", "fitted"], "fitted: keep the name"), ([], "fit: new; add it to LIST")]
)
def test_a_name_that_disappears_or_appears_is_reported_in_a_sentence(kept: list[str], what: str) -> None:
    with pytest.raises(AssertionError, match=what):
        compare(["fit"], kept, "names", "LIST")


@pytest.mark.parametrize("name", bayeswise.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(bayeswise, name) is not None
    assert name in dir(bayeswise)


def test_the_names_that_are_listed_are_public() -> None:
    assert {name for name in dir(bayeswise) if not name.startswith("__")} == {*bayeswise.__all__} - {"__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'NaiveBaies'"):
        _ = bayeswise.NaiveBaies


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import bayeswise", ("numpy", "scipy", "sklearn", "duckdb", "typer", *OPTIONAL)) == []


def test_no_module_but_the_estimators_loads_what_is_heavy_or_optional() -> None:
    core = [
        module.name
        for module in pkgutil.walk_packages(bayeswise.__path__, "bayeswise.")
        if not module.name.startswith("bayeswise.estimators")
    ]
    assert loaded_by(f"import {', '.join(core)}", ("sklearn", "narwhals", "duckdb", "scipy.stats", *OPTIONAL)) == []


def test_the_version_is_that_of_the_project_and_heads_the_changelog() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert bayeswise.__version__ == project["version"]
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_map_in_the_docstring_is_the_folders_in_the_order_of_the_contract() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = [layer.strip("()") for layer in tools["importlinter"]["contracts"][0]["layers"]]
    lines = (bayeswise.__doc__ or "").splitlines()
    folders = [line.split("/")[0].strip() for line in lines if line.startswith("    ") and "/" in line]
    assert folders == [layer for layer in layers if layer != "__main__"]  # which is a file


def test_nothing_unpickles() -> None:
    sources = (ROOT / "src").rglob("*.py")
    assert [path.name for path in sources if "import pickle" in path.read_text(encoding="utf-8")] == []


HEAVY = ("scipy", "duckdb", "sklearn", "narwhals", "threadpoolctl", *OPTIONAL)
COMMANDS = {
    "look": "look {golf} -t play",
    "fit": "fit {golf} -t play --model naive-bayes -o {folder}/fitted.bayeswise",
    "predict": "predict {folder}/golf.bayeswise {tomorrow} --proba -o {folder}/answers.csv",
    "decide": "decide {folder}/golf.bayeswise {tomorrow} --costs {folder}/costs.toml -o {folder}/decided.csv",
    "explain": "explain {folder}/golf.bayeswise --row outlook=sunny wind=strong",
    "inspect": "inspect {folder}/golf.bayeswise",
    "merge": "merge {folder}/golf.bayeswise {folder}/golf.bayeswise -o {folder}/merged.bayeswise",
    "forget": "forget {folder}/golf.bayeswise {golf} -o {folder}/empty.bayeswise",
    "bayes": "bayes --prior ill=.01 well=.99 --likelihood positive:ill=.9 positive:well=.1 --observe positive",
    "network query": "network query {folder}/golf.bif play",
}
COSTS = """
[costs]
go = { yes = 0, no = 5 }
stay = { yes = 3, no = 0 }
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_an_ordinary_command_loads_nothing_heavy(command: str, tmp_path: Path) -> None:
    golf, tomorrow = (ROOT / "examples" / name for name in ("golf.csv", "golf-tomorrow.csv"))
    bayeswise.fit(str(golf), "play", model="naive-bayes").save(tmp_path / "golf.bayeswise")
    (tmp_path / "costs.toml").write_text(COSTS)
    (tmp_path / "golf.bif").write_text(
        "network golf {} variable play { type discrete [2] { no, yes }; } probability (play) { table 0.4, 0.6; }"
    )
    words = COMMANDS[command].format(golf=golf, tomorrow=tomorrow, folder=tmp_path).split()
    script = f"from bayeswise.cli import main; sys.stdout = sys.stderr; assert main({words!r}) == 0"
    assert loaded_by(f"{script}; sys.stdout = sys.__stdout__", HEAVY) == []


def test_the_options_of_fit_are_described_without_the_arithmetic_of_its_models() -> None:
    script = "from bayeswise.cli import main; sys.stdout = sys.stderr; assert main(['fit', '--help']) == 0"
    arithmetic = tuple(f"bayeswise.{room}" for room in ("families", "statistics", "explanations", "engines"))
    assert loaded_by(f"{script}; sys.stdout = sys.__stdout__", (*arithmetic, *HEAVY)) == []


PACKAGES = [path for path in (ROOT / "src").rglob("__init__.py") if "late_names(" in path.read_text(encoding="utf-8")]


def package_of(path: Path) -> str:
    return ".".join(path.parent.relative_to(ROOT / "src").parts)


def late_names_of(path: Path) -> dict[str, str]:
    """Each name that the `if TYPE_CHECKING` block imports, with its module; a module of the package is a name of it."""
    [block] = [each for each in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(each, ast.If)]
    imports = [each for each in block.body if isinstance(each, ast.ImportFrom)]
    return {name.name: str(each.module) for each in imports for name in each.names}


@pytest.mark.parametrize("path", PACKAGES, ids=package_of)
def test_names_that_are_imported_late_are_those_that_type_checkers_see(path: Path) -> None:
    package, seen = import_module(package_of(path)), late_names_of(path)
    assert {name: getattr(package, name) for name in seen} == {
        name: getattr(import_module(module), name) for name, module in seen.items()
    }
    assert set(seen) <= set(package.__all__) <= set(dir(package))
    for name in package.__all__:  # also after all files were imported, whatever their names
        assert isinstance(getattr(package, name), ModuleType) == (seen.get(name) == package.__name__)


@pytest.mark.parametrize("path", PACKAGES, ids=package_of)
def test_no_file_of_a_package_takes_the_place_of_a_name_that_is_imported_late(path: Path) -> None:
    late = {name for name, module in late_names_of(path).items() if module != package_of(path)}
    assert not late & {each.stem for each in path.parent.iterdir()}


def test_type_checkers_see_every_public_name() -> None:
    late = late_names_of(ROOT / "src" / "bayeswise" / "__init__.py")
    assert {*late, "__version__"} == set(bayeswise.__all__)
