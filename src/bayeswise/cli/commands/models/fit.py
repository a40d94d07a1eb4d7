"""bayeswise fit FILE -t TARGET -o MODEL: from a table to a model file, on this machine, on Spark or on Dask."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayeswise.cli.options import costs as decision_option
from bayeswise.cli.options import reading
from bayeswise.cli.options.settings import what_was_typed, with_settings
from bayeswise.cli.output.writing import (
    check_model_output,
    default_model_name,
    json_document,
    reported_warnings,
    saved,
    say,
)
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotInstalledError, UsageError
from bayeswise.foundation.progress import Bar
from bayeswise.models.registry import NAMES

if TYPE_CHECKING:
    from bayeswise.tables.partitions import SpreadSource


_OWN = {"master": "spark", "scheduler": "dask"}
_READERS = {"spark": "bayeswise.engines.spark_sessions", "dask": "bayeswise.engines.dask"}


@dataclass(frozen=True)
class Engine:
    """The options about where rows are swept."""

    engine: Annotated[
        Literal["local", "spark", "dask"] | None,
        typer.Option(help="Engine that reads the rows of Parquet files (default: local, this machine)."),
    ] = None
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Spark master, such as spark://HOST:7077, yarn or sc://HOST.")
    ] = None
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler, such as tcp://HOST:8786.")
    ] = None

    @contextmanager
    def opened(self, files: Sequence[str]) -> Iterator[SpreadSource | None]:
        """The table in Parquet files, spread over a cluster; None where this machine sweeps the rows."""
        for name, own in _OWN.items():
            if getattr(self, name) is not None and self.engine != own:
                raise UsageError(f"--{name} is about --engine {own}", fix=f"add --engine {own}, or leave it out")
        if self.engine is None or self.engine == "local":
            yield None
            return
        other = next((file for file in files if not file.rstrip("/*").endswith((".parquet", ".pq"))), None)
        if other is not None:
            raise UsageError(
                f"--engine {self.engine} reads Parquet files; found {other!r}",
                fix="name files that end in .parquet, or leave out --engine",
            )
        try:
            engine = import_module(_READERS[self.engine])
        except ImportError as error:
            raise NotInstalledError(
                f"--engine {self.engine} needs the package {error.name}", fix=f"pip install 'bayeswise[{self.engine}]'"
            ) from None
        with engine.parquet(files, self.master or self.scheduler) as source:
            yield source
            passes = f"{len(source.passes)} pass{'es' * (len(source.passes) != 1)}"
            say(f"{passes} over {source.n_partitions} partitions: {', '.join(source.passes)}.")


@with_settings
def run(
    files: reading.Files,
    target: reading.Target = None,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="MODEL", help="The model file [TARGET.bayeswise].")
    ] = None,
    *,
    kinds: reading.Kinds,
    m_estimate: Annotated[
        float | None, typer.Option("--m-estimate", metavar="M", help="Pseudo-counts shared by all levels.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--model",
            autocompletion=lambda: list(NAMES),
            metavar="KIND",
            help="auto [the default]: all models that apply, weighted by their predictions of left-out rows; or one "
            "kind: naive-bayes, its average over all subsets of relevant columns (averaged), Gaussian classes with "
            "correlated columns (gaussian), regression of a class (logistic) or of a number (linear), a network in "
            "which columns depend on each other (tan, aode, k-dependence, markov-blanket), or a decision tree, pruned "
            "by its description length (tree).",
        ),
    ] = None,
    decision: decision_option.Decision = None,
    like: Annotated[
        str | None,
        typer.Option(
            "--like", metavar="MODEL", help="Use the columns and settings of this model, so that both can be merged."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is not a model.")] = False,
    reader: reading.Reading,
    engine: Engine,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was learned as JSON.")] = False,
    **typed: Any,
) -> None:
    """Learn a model from a table and save it.

    \b
    bayeswise fit golf.csv -t play -o play.bayeswise
    bayeswise fit 'visits-*.csv' -t ill --count visits --category zip --within 60s
    bayeswise fit golf.csv -t play --model naive-bayes --smoothing 1
    bayeswise fit iris.csv -t species --model gaussian --covariance shared
    bayeswise fit houses.csv -t price --model linear --scale evidence
    bayeswise fit patients.csv -t ill --model tan
    bayeswise fit 'visits/*.parquet' -t ill --model naive-bayes --engine spark

    Kinds and families of columns are inferred (see `bayeswise look`) unless they are given. The same rows
    give the same file, byte for byte, in any order. An existing model is replaced once the new one is complete.
    """
    from bayeswise.cli.options.fitting import FitRequest, chosen_kind, facts_of
    from bayeswise.models.fitting import learned_like, with_calibration
    from bayeswise.tables.sources.opening import long_file

    model_like = None if like is None else reading.load_for("fit --like", like)
    target, kinds = decision_option.target_and_kinds(decision, target, kinds)
    options = what_was_typed({"m_estimate": m_estimate, **typed})
    costs = decision_option.costs_to_choose_by(decision) if options.get("choose") == "best" else None
    request = FitRequest(chosen_kind(kind, options), kinds, options, costs)
    if model_like is not None:
        request.nothing_beside(model_like, target)
        target = model_like.schema.target.name
    if target is None:
        raise UsageError("there is no target", fix="add -t COL; `bayeswise look FILE` shows the columns")
    path = default_model_name(target) if out is None else out
    replaced = check_model_output(path, [*files, *([] if like is None else [like])], force=force)
    by_itself = request.kind.calibrates and model_like is None
    calibrate = None if by_itself else request.typed.pop("calibrate", None)
    with Bar("learning") as bar, engine.opened(files) as spread:
        opened: Any = spread or reader.open(files, like=model_like and model_like.schema)
        once = spread is not None or (
            model_like is None and long_file(opened) is not None
        )  # by a pass that has threads
        source: Any = opened if once else reading.Watched(opened, bar)
        with reported_warnings():
            if model_like is None:
                learning = bar.advance if once and spread is None else None
                model, report = request.learned(
                    source, target, lambda name: bar.rename(f"learning {name}"), progress=learning
                )
            else:
                model, report = learned_like(model_like, source)
            model = with_calibration(model, opened, calibrate, model_like)
    facts = facts_of(model, report, source.description, path, replaced)  # finds all that is wrong before it is saved
    model.save(path)
    if as_json:
        print(json_document(facts))
        return
    from bayeswise.cli.output.fit_page import show

    show(facts)
    say(saved(path, replaced), f"Next: {_next_command(path, decision)}")


def _next_command(model: str, decision: str | None) -> str:
    """What to type next: with costs, rows are decided."""
    if decision is not None and decision_option.has_costs(decision):
        return f"bayeswise decide {shlex.quote(model)} NEW.csv --costs {shlex.quote(decision)} > actions.csv"
    return f"bayeswise predict {shlex.quote(model)} NEW.csv > answers.csv"
