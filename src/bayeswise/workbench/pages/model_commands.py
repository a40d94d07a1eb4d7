"""What a fit or a comparison is on the command line and in Python: its options, its settings, its lines."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, StrictBool, StringConstraints

from bayeswise.foundation.errors import ParameterError
from bayeswise.models.files import kind_of
from bayeswise.models.registry import DEFAULT, MODELS, kind_of_name
from bayeswise.models.settings.help_text import settings_by_option
from bayeswise.tables.schema.null_words import words_of
from bayeswise.tables.source import DEFAULT_NULL_WORDS
from bayeswise.workbench.messages import FLAG, Code, FileName, Name, SameAs, call, python, shell
from bayeswise.workbench.table_choice import TableChoice

Value = StrictBool | int | float | Annotated[str, StringConstraints(max_length=10_000)]
Settings = Annotated[dict[str, Value | list[Value]], Field(max_length=200)]
_OPTION = re.compile(r"[a-z][a-z-]*")


class FitRequest(TableChoice):
    """A table, a kind of model with its settings, and the file to write; `version` is that of the file it replaces."""

    model: Name = DEFAULT
    settings: Settings = Field(default_factory=dict)
    decision: FileName | None = None
    output: FileName
    version: str | None = None


class CompareRequest(TableChoice):
    """A table, the kinds of models to compare, and what decides."""

    models: Annotated[list[Name], Field(max_length=50)] = Field(default_factory=list)
    decision: FileName | None = None
    by_bits: bool = False
    folds: Annotated[int, Field(ge=2, le=100)] = 5


def fit_options(asked: FitRequest) -> dict[str, Any]:
    return {**asked.options, "--model": asked.model, "--decision": asked.decision, **_typed(asked.settings)}


def compare_options(asked: CompareRequest) -> dict[str, Any]:
    folds = {"--models": ",".join(asked.models) or None, "--cv": str(asked.folds)}
    return {**asked.options, "--costs": asked.decision, **({"--by": "bits"} if asked.by_bits else folds)}


def options_like(model: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a fit that learns this model with other settings: its kind, its columns, and what is not usual."""
    schema, settings = model.schema, model.settings
    kinds = [kind for kind in MODELS if kind_of(model) in kind.files]
    kind = next((each for each in kinds if each.name == getattr(settings, "structure", None)), kinds[0])
    columns: dict[str, list[str]] = {}
    for column in schema:
        columns.setdefault("--ignore" if column.kind == "ignored" else f"--{column.kind}", []).append(column.name)
    usual = {each.name: each.default for each in kind.declared().values()}
    kept = vars(settings)
    given = {name: kept[name] for name in usual if name in kept and kept[name] != usual[name]} | dict(changes)
    shares = given.pop("class_prior", None) or {}
    return {
        "--target": schema.target.name,
        "--model": kind.name,
        **columns,
        "--null": None if words_of(schema) == DEFAULT_NULL_WORDS else list(words_of(schema)),
        **_typed(
            {name.replace("_", "-"): value for name, value in given.items() if isinstance(value, str | int | float)}
        ),
        "--prior": [f"{label}={p!r}" for label, p in shares.items()],
    }


def same_fit(asked: FitRequest) -> SameAs:
    opening, table = asked.in_python
    fitted = call("bw.fit", table, **asked.keywords, model=asked.model, **_keywords(asked))
    return SameAs(
        shell=shell("fit", asked.table, options={**fit_options(asked), "--output": asked.output}),
        python=python(*opening, f"model = {fitted}", f"model.save({asked.output!r})"),
    )


def same_comparison(asked: CompareRequest) -> SameAs:
    columns = {name: value for name, value in asked.keywords.items() if name != "target"}
    more: dict[str, Any] = {}
    if asked.by_bits:
        module, function = "models.description_length.comparing", "compare_table"
    else:
        module, function = "evaluation.model_comparison", "compare_models"
        costs = None if asked.decision is None else Code(call("bw.Costs.read", asked.decision))
        more = {"costs": costs, "models": list(asked.models), "cv": asked.folds}
    opening, table = asked.in_python
    found = call(function, table, asked.target, **more, **columns)
    return SameAs(
        shell=shell("compare", asked.table, options=compare_options(asked)),
        python=python(f"from bayeswise.{module} import {function}", *opening, f"found = {found}", "print(found)"),
    )


def _typed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as options; a flag that is false is left out."""
    typed: dict[str, Any] = {}
    for option, value in settings.items():
        if not _OPTION.fullmatch(option) or option.replace("-", "_") not in {*settings_by_option(), "m_estimate"}:
            raise ParameterError(f"there is no setting {option!r}", fix="choose one that GET /api/kinds lists")
        if value is True:
            typed[f"--{option}"] = [FLAG]
        elif value is not False:
            typed[f"--{option}"] = [str(each) for each in (value if isinstance(value, list) else [value])]
    return typed


def _keywords(asked: FitRequest) -> dict[str, Any]:
    """Settings as `bw.fit` takes them."""
    kind = kind_of_name(asked.model)
    found: dict[str, Any] = {}
    for option, value in asked.settings.items():
        if value is False:  # a flag that is not set
            continue
        if option == "m-estimate":
            found["smoothing"] = Code(call("bw.MEstimate", _read(value)))
            continue
        having = [
            name for name, kinds in settings_by_option().get(option.replace("-", "_"), {}).items() if kind in kinds
        ]
        words = value if isinstance(value, list) else [value]
        pairs = [str(word).rpartition("=") for word in words if "=" in str(word)]
        name = (
            "class_prior" if pairs and "class_prior" in having else next((n for n in having if n != "class_prior"), "")
        )
        if not name:
            raise ParameterError(
                f"models of kind {kind.name} have no setting {option!r}",
                fix="leave it out, or choose a model that has it",
            )
        if pairs:
            found[name] = {_read(key): _read(each) for key, _, each in pairs}
        else:
            found[name] = not option.startswith("no-") if value is True else _read(value)
    return found


def _read(value: Any) -> Any:
    """What was typed as a number, where it is one."""
    for number in (int, float):
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                return number(value)
    return value
