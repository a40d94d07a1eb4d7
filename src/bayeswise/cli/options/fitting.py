"""The request to `fit`, from what was typed: kinds, families, smoothing, priors; and the facts of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayeswise.cli.options.pairs import by_name, by_number
from bayeswise.cli.options.reading import Kinds
from bayeswise.cli.options.settings import option, settings_of
from bayeswise.cli.output.writing import say
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, PriorError, UsageError
from bayeswise.models.base.facts import (
    calibration_of,
    class_prior,
    class_weights,
    columns_of,
    mixture_of,
    regression_of,
    temper_of,
    tree_of,
)
from bayeswise.models.fitting import learned
from bayeswise.models.from_table import divided
from bayeswise.models.naive_bayes import select
from bayeswise.models.registry import DEFAULT, ModelKind, kind_by_settings, kind_of_name
from bayeswise.models.settings.declaration import Setting
from bayeswise.models.settings.help_text import settings_by_option
from bayeswise.posteriors.prior import SUM_TOLERANCE
from bayeswise.render.labels import quoted
from bayeswise.render.numbers import exact
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.labels import Label, label_of_text
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.source import Source


@dataclass(frozen=True)
class FitRequest:
    """What was typed about the model and its columns."""

    kind: ModelKind
    kinds: Kinds
    typed: dict[str, Any]  # the options that are settings, by name
    costs: str | None = None  # the decision file by whose costs a model is chosen

    def learned(
        self,
        source: Source,
        target: str,
        show: Callable[[str], None] | None = None,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Any, Report]:
        """The model of a table, and its report; why a family was selected is printed on stderr.

        `show` is called with the name of each candidate of an auto model, `progress` with the rows of each batch.

        The prior of the classes is put in place when these are known; only the search for a graph needs it before.
        """
        given = self._settings([column.name for column in source.columns])
        shares = given.pop("class_prior", None)
        check_prior(shares or ())
        given |= {"announce": show} if self.kind.name == "auto" else {}
        given |= {} if self.costs is None else {"costs": self.costs}
        given |= {"progress": progress} if progress is not None else {}
        if given.get("families") == "select":
            given = _selected(source, target, given)
        model, report = learned(source, target, model=self.kind.name, **given)
        if not shares:
            return model, report
        prior = prior_of(shares, model.classes)
        if self.kind.name == "markov-blanket":
            return learned(source, target, model=self.kind.name, class_prior=prior, **given)
        return model.changed(class_prior=prior), report

    def _settings(self, names: Sequence[str]) -> dict[str, Any]:
        """All settings, those by column read for columns of these names; the prior of the classes stays text."""
        given = settings_of(self.kind, {name: value for name, value in self.typed.items() if name != "prior"})
        about_columns = self.kinds.overrides(names)
        own = self.kind.declared()
        for name, pieces in given.items():
            if name in _READERS:
                by_column = own[name].by_name
                given[name] = _READERS[name](pieces, names) if by_column else _one_word(own[name], pieces, self.kind)
        given["levels"] = {**about_columns.pop("levels"), **given.get("levels", {})}
        return {**about_columns, **given, **self._priors()}

    def _priors(self) -> dict[str, Any]:
        """--prior CLASS=P is about classes, --prior NAME about weights or tables."""
        own = {name for name, having in settings_by_option()["prior"].items() if self.kind in having}
        pieces = self.typed.get("prior", [])
        shares = [piece for piece in pieces if "=" in piece or "prior" not in own]
        words = [piece for piece in pieces if piece not in shares]
        found: dict[str, Any] = {"class_prior": shares} if shares else {}
        if shares and "class_prior" not in own:
            choices = ", ".join(str(choice).lower() for choice in self.kind.declared()["prior"].choices)
            raise UsageError(
                f"--prior {' '.join(pieces)}: the prior of a {self.kind.name} regression is that of its weights",
                fix=f"write one of {choices}",
            )
        if words:
            found["prior"] = _one_word(self.kind.declared()["prior"], words, self.kind)
        return found

    def nothing_beside(self, like: Any, target: str | None) -> None:
        """Refuse what was typed beside a model whose columns and settings are to be taken."""
        typed = [name for name, value in {**vars(self.kinds), **self.typed}.items() if value is not None]
        typed = [name for name in typed if name != "calibrate"]
        if typed:
            raise UsageError(
                f"--like takes columns and settings from a model, so {option(typed[0])} cannot be given",
                fix="leave out one of them",
            )
        if target is not None and like.schema.target is not None:
            find_name(target, [like.schema.target.name], where="the model of --like", role="target")


def chosen_kind(name: str | None, typed: Mapping[str, Any]) -> ModelKind:
    """The kind that is named; without a name, the kind that has the options typed, and a note if that is not auto."""
    if name is not None:
        return kind_of_name(name)
    having = {option(key): _kinds_with(key, value) for key, value in typed.items()}
    kind = kind_by_settings(having)
    if kind.name != DEFAULT:
        shown = " and ".join(name for name, kinds in having.items() if kind_of_name(DEFAULT) not in kinds)
        say(f"Note: {shown}: not for {DEFAULT}, the default; this is a {kind.name} model (--model {kind.name}).")
    return kind


def _kinds_with(key: str, value: Any) -> set[ModelKind]:
    """The kinds that have an option; --prior CLASS=P is another setting than --prior NAME."""
    names = {"smoothing"} if key == "m_estimate" else set(settings_by_option()[key])
    if key == "prior":
        names = {"class_prior" if all("=" in piece for piece in value) else "prior"}
    return {kind for having in settings_by_option().values() for name in names for kind in having.get(name, ())}


def _selected(source: Source, target: str, given: dict[str, Any]) -> dict[str, Any]:
    about_columns, others = divided(given)
    schema = infer_schema(source, target, **about_columns)
    selection = select(source, schema)
    say(*(f"{quoted(choice.column)}: {choice.reason}." for choice in selection.choices))
    return {**others, "schema": schema, "families": selection}


def _one_word(declared: Setting, pieces: Sequence[str], kind: ModelKind) -> Any:
    """The one word that a setting is, with none for None."""
    by_text = {str(choice).lower(): choice for choice in declared.choices}
    if len(pieces) > 1 or pieces[0].lower() not in by_text:
        raise UsageError(
            f"{option(declared.name)} {' '.join(pieces)} is not valid for a {kind.name} model",
            fix=f"write one of {', '.join(by_text)}",
        )
    return by_text[pieces[0].lower()]


def families(pieces: Sequence[str] | None) -> str | dict[str, str]:
    """COL=FAMILY for some columns, or one FAMILY for all numbers.

    >>> families(["visits=poisson", "age=gamma"]), families(["laplace"]), families(None)
    ({'visits': 'poisson', 'age': 'gamma'}, 'laplace', 'auto')
    """
    if not pieces:
        return "auto"
    if len(pieces) == 1 and "=" not in pieces[0]:
        return pieces[0]
    return by_number(pieces, "--family", "visits=poisson")


def policies(pieces: Sequence[str] | None, names: Sequence[str], option: str) -> dict[str, str]:
    """POLICY for all columns, COL=POLICY for one.

    >>> policies(["level", "age=ignore"], ["age", "wind"], "--missing")
    {'age': 'ignore', 'wind': 'level'}
    """
    general = [piece for piece in pieces or () if "=" not in piece]
    if len(general) > 1:
        raise ParameterError(f"{option} is given twice: {general[0]} and {general[1]}", fix="give it once")
    special = by_name([piece for piece in pieces or () if "=" in piece], names, option, f"COL={'ignore'}")
    return {**(dict.fromkeys(names, general[0]) if general else {}), **special}


def relevances(pieces: Sequence[str], names: Sequence[str]) -> float | dict[str, float]:
    """P for all columns, or COL=P for some.

    >>> relevances(["0.9"], ["age"]), relevances(["age=0.9"], ["age"])
    (0.9, {'age': 0.9})
    """
    if len(pieces) == 1 and pieces[0] not in names and "=" not in pieces[0]:
        return _number(pieces[0], "--relevance")
    by_column = by_name(pieces, names, "--relevance", "age=0.9")
    return {name: _number(text, f"--relevance {name}={text}") for name, text in by_column.items()}


def numbers_of(text: str, what: str) -> list[float]:
    """Numbers with commas between them.

    >>> numbers_of("30,50.5", "--cuts age=30,50.5")
    [30.0, 50.5]
    """
    return [_number(number, what) for number in text.split(",")]


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{what}: {text!r} is not a number", fix="write numbers, such as 0.5 or 30,50") from None


# How the settings by column are read, for columns of some names.
_READERS: dict[str, Callable[[Sequence[str], Sequence[str]], Any]] = {
    "levels": lambda pieces, names: {
        name: levels.split(",") for name, levels in by_name(pieces, names, "--levels", "size=S,M,L").items()
    },
    "missing": lambda pieces, names: policies(pieces, names, "--missing"),
    "unseen": lambda pieces, names: policies(pieces, names, "--unseen"),
    "families": lambda pieces, names: families(pieces),
    "relevance": relevances,
    "cuts": lambda pieces, names: {
        name: numbers_of(text, f"--cuts {name}={text}")
        for name, text in by_name(pieces, names, "--cuts", "age=30,50").items()
    },
}


def check_prior(pieces: Sequence[str]) -> None:
    """Refuse what is not a probability before the rows are read."""
    total = sum((_share(text, number) for text, number in by_number(pieces, "--prior", "yes=.6").items()), Fraction(0))
    if total - 1 > SUM_TOLERANCE:
        raise PriorError(f"--prior sums to {float(total):.12g}, more than 1", fix="divide each entry by the sum")


def _share(text: str, number: str) -> Fraction:
    share = exact(number, f"the prior of {text}", PriorError)
    if not 0 <= share <= 1:
        beyond = "more than 1" if share > 1 else "less than 0"
        raise PriorError(f"the prior of {text} is {number}, {beyond}", fix="give a probability from 0 to 1")
    return share


def prior_of(pieces: Sequence[str], classes: tuple[Label, ...]) -> Mapping[Label, float]:
    """CLASS=P for all classes but at most one, which gets the rest.

    >>> prior_of(["yes=3/5"], ("no", "yes"))
    {'no': 0.4, 'yes': 0.6}
    """
    typed = by_number(pieces, "--prior", "yes=.6")
    given: dict[Label, Fraction] = {}
    for text, number in typed.items():
        label = label_of_text(text, classes, what="--prior names a class that the rows do not have:")
        given[label] = _share(text, number)
    left = [label for label in classes if label not in given]
    total = sum(given.values(), Fraction(0))
    if len(left) == 1 and total <= 1:
        given[left[0]] = 1 - total
    return {label: float(given[label]) for label in classes if label in given}


def facts_of(model: Any, report: Report, source: str, path: str, replaced: bool) -> dict[str, Any]:
    """What was learned, as plain data."""
    target = model.schema.target
    return {
        "model": path,
        "replaced": replaced,
        "source": source,
        "rows": report.rows - report.without_target - report.without_weight,
        "rows_without_target": report.without_target,
        "rows_without_weight": report.without_weight,
        "target": None if target is None else target.name,
        "weight": model.schema.weight,
        "classes": class_weights(model),
        "prior": class_prior(model),
        "columns": columns_of(model),
        **temper_of(model),
        "no_numbers": {name: str(count) for name, count in report.invalid.items() if count.invalid},
        "convention": model.settings.convention,
        **calibration_of(model),
        "n_free_parameters": model.n_free_parameters(),
        **regression_of(model),
        **mixture_of(model),
        **tree_of(model),
    }
