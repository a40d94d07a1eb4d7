"""The Model page: kinds of models with their settings, fitting and comparing in the background, live settings."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field, StrictBool, StringConstraints

from bayeswise.foundation.errors import KindError, ParameterError
from bayeswise.models.base.facts import about_model
from bayeswise.models.base.table_model import TableModel, capabilities_of
from bayeswise.models.description_length.lengths import description_length
from bayeswise.models.files import inner_of, kind_of
from bayeswise.models.naive_bayes import NaiveBayesModel
from bayeswise.models.registry import DEFAULT, MODELS, kind_of_name
from bayeswise.models.settings.help_text import settings_by_option, title_of
from bayeswise.posteriors.normalise import log_own
from bayeswise.tables.schema.null_words import words_of
from bayeswise.tables.source import DEFAULT_NULL_WORDS
from bayeswise.workbench.bench import Bench, TableChoice
from bayeswise.workbench.messages import FLAG, PROBLEMS, Code, FileName, Message, Name, SameAs, call, python, shell
from bayeswise.workbench.pages.jobs import JobView
from bayeswise.workbench.workspace import version_of

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


def fit_options(request: FitRequest) -> dict[str, Any]:
    return {**request.options, "--model": request.model, "--decision": request.decision, **_typed(request.settings)}


def compare_options(request: CompareRequest) -> dict[str, Any]:
    folds = {"--models": ",".join(request.models) or None, "--cv": str(request.folds)}
    return {**request.options, "--costs": request.decision, **({"--by": "bits"} if request.by_bits else folds)}


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


def same_fit(request: FitRequest) -> SameAs:
    opening, table = request.in_python
    fitted = call("bw.fit", table, **request.keywords, model=request.model, **_keywords(request))
    return SameAs(
        shell=shell("fit", request.table, options={**fit_options(request), "--output": request.output}),
        python=python(*opening, f"model = {fitted}", f"model.save({request.output!r})"),
    )


def same_comparison(request: CompareRequest) -> SameAs:
    columns = {name: value for name, value in request.keywords.items() if name != "target"}
    more: dict[str, Any] = {}
    if request.by_bits:
        module, function = "models.description_length.comparing", "compare_table"
    else:
        module, function = "evaluation.model_comparison", "compare_models"
        costs = None if request.decision is None else Code(call("bw.Costs.read", request.decision))
        more = {"costs": costs, "models": list(request.models), "cv": request.folds}
    opening, table = request.in_python
    compared = call(function, table, request.target, **more, **columns)
    return SameAs(
        shell=shell("compare", request.table, options=compare_options(request)),
        python=python(f"from bayeswise.{module} import {function}", *opening, f"found = {compared}", "print(found)"),
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


def _keywords(request: FitRequest) -> dict[str, Any]:
    """Settings as `bw.fit` takes them."""
    kind = kind_of_name(request.model)
    keywords: dict[str, Any] = {}
    for option, value in request.settings.items():
        if value is False:  # a flag that is not set
            continue
        if option == "m-estimate":
            keywords["smoothing"] = Code(call("bw.MEstimate", _read(value)))
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
            keywords[name] = {_read(key): _read(each) for key, _, each in pairs}
        else:
            keywords[name] = not option.startswith("no-") if value is True else _read(value)
    return keywords


def _read(value: Any) -> Any:
    """What was typed as a number, where it is one."""
    for number in (int, float):
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                return number(value)
    return value


_LIVE = ("smoothing", "class_prior", "prior_smoothing", "shrinkage", "variance_floor", "shared_variance")
_LIVE_ROWS = 50_000


class SettingView(Message):
    """A setting: the option that sets it on the command line, and what it may be."""

    option: str
    name: str
    help: str
    group: str
    default: str | None
    choices: list[str]
    number: bool
    at_least: float | None
    at_most: float | None
    live: bool


class KindView(Message):
    """A kind of model, and its settings."""

    name: str
    group: str
    settings: list[SettingView]


class ModelView(Message):
    """A model file: what `bayeswise inspect --json` prints of it, and which settings can be changed live."""

    model: str
    version: str
    kind: str
    facts: dict[str, Any]
    live: list[str]
    same_as: SameAs


class LiveRequest(Message):
    """A model, the table that it has learned, and settings to try without another pass over the rows."""

    model: FileName
    table: FileName
    smoothing: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None
    shrinkage: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    class_prior: Annotated[dict[str, Annotated[float, Field(ge=0, le=1)]], Field(max_length=1_000)] | None = None


class LiveView(Message):
    """How the changed model does on its own rows, each left out in turn."""

    rows: int
    log_loss: float | None
    error: float
    bits: float | None
    prior: dict[str, float]
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """GET /api/kinds, GET /api/model, POST /api/fit, /api/compare and /api/model/live."""
    router = APIRouter(prefix="/api", tags=["model"], responses=PROBLEMS)

    @router.get("/kinds")
    def kinds() -> list[KindView]:
        """The kinds of models, and all that can be set about each."""
        return [_kind_view(kind) for kind in sorted(MODELS, key=lambda kind: kind.name != DEFAULT)]

    @router.get("/model")
    def model(model: Annotated[FileName, Query()]) -> ModelView:
        """What a model file holds."""
        fitted = bench.model(model)
        path = bench.workspace.file(model)
        return ModelView(
            model=model,
            version=version_of(path),
            kind=kind_of(inner_of(fitted)),
            facts=about_model(fitted) if isinstance(fitted, TableModel) else {},
            live=_live_settings(fitted),
            same_as=SameAs(shell=shell("inspect", model), python=python(f"model = {call('bw.load', model)}", "model")),
        )

    @router.post("/fit", status_code=202)
    def fit(request: FitRequest) -> JobView:
        """Learn a model in the background."""
        bench.workspace.file(request.table)
        if request.decision is not None:
            bench.workspace.file(request.decision)
        if not request.output.endswith(".bayeswise"):
            raise ParameterError(f"{request.output!r} does not end in .bayeswise", fix="name the model NAME.bayeswise")
        job = bench.jobs.start(
            "fit", request.table, options=fit_options(request), output=request.output, version=request.version
        )
        return JobView.of(job)

    @router.post("/fit/same_as")
    def fit_same_as(request: FitRequest) -> SameAs:
        """The same learning on the command line and in Python."""
        return same_fit(request)

    @router.post("/compare", status_code=202)
    def compare(request: CompareRequest) -> JobView:
        """Compare kinds of models in the background, by rows that they never saw or by description length."""
        bench.workspace.file(request.table)
        if request.decision is not None:
            bench.workspace.file(request.decision)
        return JobView.of(bench.jobs.start("compare", request.table, options=compare_options(request)))

    @router.post("/compare/same_as")
    def compare_same_as(request: CompareRequest) -> SameAs:
        """The same comparison on the command line and in Python."""
        return same_comparison(request)

    @router.post("/model/live")
    def live(request: LiveRequest) -> LiveView:
        """A model under other settings, at once: its statistics are kept, so that no row is read again."""
        return live_view(bench, request)

    return router


def live_view(bench: Bench, request: LiveRequest) -> LiveView:
    """The leave-one-out log-loss and errors of the changed model, on rows that were encoded once."""
    fitted = bench.model(request.model)
    known = _live_settings(fitted)
    changes: dict[str, Any] = {
        name: value for name in ("smoothing", "shrinkage") if (value := getattr(request, name)) is not None
    }
    if request.class_prior is not None:
        by_text = {str(label): label for label in fitted.classes}
        changes["class_prior"] = {by_text.get(name, name): p for name, p in request.class_prior.items()}
    for name in changes:
        if name not in known:
            raise KindError(f"{name} of this model cannot be changed without its rows", fix="fit it again")
    if not known:
        raise KindError("this kind of model keeps no statistics that settings could change", fix="fit it again")
    batches = bench.workspace.remembered(
        bench.workspace.file(request.model),
        "learned rows",
        lambda: _some(map(fitted.recoded, fitted.learned(bench.workspace.file(request.table)))),
        also=(bench.workspace.file(request.table),),
    )
    changed = fitted.changed(**changes) if changes else fitted
    posterior = changed.leave_one_out(batches)
    truth = np.concatenate([changed.groups_of(batch) for batch in batches])
    logs = log_own(posterior, truth, lambda rows: changed.leave_one_out_log_proba(batches)[rows])
    log_loss = float(-logs.mean()) if len(truth) else 0.0
    bits = description_length(changed).bits if isinstance(changed, NaiveBayesModel) else None
    return LiveView(
        rows=len(truth),
        log_loss=log_loss,
        error=float((posterior.argmax(axis=1) != truth).mean()) if len(truth) else 0.0,
        bits=bits,
        prior={str(label): float(p) for label, p in zip(changed.classes, np.exp(changed.log_prior), strict=True)},
        same_as=SameAs(
            shell=shell("fit", request.table, options=options_like(fitted, changes)),
            python=python(f"model = {call('bw.load', request.model)}.{call('changed', **changes)}"),
        ),
    )


def _some(batches: Any) -> list[Any]:
    """The first rows, as many as can be left out while a slider moves."""
    kept, rows = [], 0
    for batch in batches:
        kept.append(batch.rows(slice(0, min(batch.n_rows, _LIVE_ROWS - rows))))
        rows += kept[-1].n_rows
        if rows >= _LIVE_ROWS:
            break
    return kept


def _live_settings(model: Any) -> list[str]:
    if not capabilities_of(model).leave_one_out or model.selected_by_rows:
        return []
    return [name for name in _LIVE if name in vars(model.settings)]


def _kind_view(kind: Any) -> KindView:
    views = []
    for key, settings in settings_by_option().items():
        for name, having in settings.items():
            if kind in having:
                each = having[kind]
                default = None if each.default is None else str(each.default)
                views.append(
                    SettingView(
                        option=key.replace("_", "-"),
                        name=name,
                        help=each.help,
                        group=title_of(name),
                        default=default,
                        choices=[str(choice) for choice in each.choices if choice is not None],
                        number=each.number is not None,
                        at_least=each.at_least if each.at_least is not None else each.above,
                        at_most=each.at_most if each.at_most is not None else each.below,
                        live=name in _LIVE,
                    )
                )
    return KindView(name=kind.name, group=kind.group, settings=views)
