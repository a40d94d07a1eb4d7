"""bayeswise label POOL -t TARGET -o SESSION: a labelling session in the terminal.

labelling.py  the loop: show a case, take an answer, save it
keys.py       one key for each class and each command
screen.py     one case per screen
pool.py       cells as they were written, fingerprint, labels; the files of a session
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.options.costs import OptionalCosts, read_decision
from bayeswise.cli.output.writing import Raw, check_kind, check_place, json_document, say
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, FitError, UsageError

if TYPE_CHECKING:
    from bayeswise.acquisition import ActiveLearner
    from bayeswise.acquisition.journal import Journal
    from bayeswise.cli.commands.label.labelling import Labelling
    from bayeswise.cli.commands.label.pool import PoolTable, SessionFiles
    from bayeswise.decisions.costs.costs import Costs
    from bayeswise.decisions.costs.decision_file import DecisionFile
    from bayeswise.tables.schema.labels import Label

Strategy = Literal["margin", "entropy", "least confident", "density-weighted", "expected cost", "ask", "random"]


def run(
    files: Annotated[list[str], typer.Argument(metavar="POOL", help="Rows to label: files or globs.")],
    target: Annotated[str | None, typer.Option("-t", "--target", metavar="COL", help="Column to label.")] = None,
    out: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="SESSION",
            help="Session folder, or a table (.csv .tsv .jsonl .json .parquet) beside a folder of its name.",
        ),
    ] = "labels",
    classes: Annotated[
        str | None,
        typer.Option("--classes", metavar="A,B,C", help="All classes, if the pool does not show all of them."),
    ] = None,
    costs: OptionalCosts = None,
    price: Annotated[
        float | None,
        typer.Option("--price", metavar="P", min=0.0, help="Price of a label; stop when the next one saves less."),
    ] = None,
    strategy: Annotated[
        Strategy | None,
        typer.Option(
            "--strategy", help="How the next row is chosen (default: margin; with --costs, expected cost or ask)."
        ),
    ] = None,
    random_share: Annotated[
        float | None,
        typer.Option(
            "--random-share",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Share of rows drawn at random [adapted to what chosen rows gain].",
        ),
    ] = None,
    average: Annotated[bool, typer.Option("--average", help="Use averaged naive Bayes.")] = False,
    start: Annotated[str | None, typer.Option("--from", metavar="MODEL", help="Start from this model.")] = None,
    *,
    kinds: reading.Kinds,
    raw: Raw = False,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Exchange questions and answers as JSON lines.")] = False,
) -> None:
    """Label the most informative rows, one key per row.

    \b
    bayeswise label mail.csv -t kind --classes ham,spam -o session
    bayeswise label loans.csv --costs decision.toml --from loan.bayeswise -o session
    bayeswise label mail.csv -t kind -o session < answers.txt
    bayeswise label mail.csv -t kind -o labels.parquet

    Each answer is saved before it is confirmed; run the same command again to resume an interrupted session. The
    session folder holds the journal, labelled.csv and model.bayeswise. With -o labels.parquet the folder is labels, and
    the table is labels.parquet instead of labelled.csv. When piped, each input line is one answer: a key or the name
    of a class; with --json also {"label": CLASS}, {"skip": true}, {"unknown": true}, {"undo": true} or {"quit": true}.
    """
    from bayeswise.acquisition.journal import Journal
    from bayeswise.acquisition.session import Session
    from bayeswise.cli.commands.label.labelling import Labelling
    from bayeswise.cli.commands.label.pool import PoolTable, SessionFiles

    if reading.STDIN in files:
        raise UsageError("standard input is for the answers", fix="name the pool as a file")
    kept = SessionFiles.of(out)
    if kept.table.parent != kept.folder:  # the folder itself is made later
        check_place(str(kept.table), files)
    decision = None if costs is None else read_decision(costs)
    model = None if start is None else reading.load_for("label", start, "classes", "forgets")
    target = _target(target, decision, model)
    source = reader.open(files, like=model and model.schema)
    pool = PoolTable.read(source, target, _named(classes, decision))
    overrides = kinds.overrides([column.name for column in source.columns])
    header = {"bayeswise": "labels", "version": 1, "target": target, "pool": pool.fingerprint, "n_rows": pool.n_rows}
    begun = kept.journal.exists()
    known = _classes(pool, model, begun)
    table = None if decision is None else decision.costs
    share: float | Literal["auto"] = "auto" if random_share is None else random_share
    maker = Maker(pool, target, table, model, strategy or _default_strategy(table), share, average, overrides)
    if begun:
        check_kind(str(kept.table), kept.form.kind)
    else:
        kept.refuse_foreign()
        maker.learner(known)  # finds what is wrong before there is a session
    kept.make_folder()
    with Journal.open(kept.journal, {**header, "classes": known}) as journal:
        _check(journal.header, target, str(kept.folder))
        pool.check_same(journal.header, str(kept.folder))
        if journal.bytes_cut:
            say("The last line of the journal was incomplete and never confirmed; it was dropped.")
        _take_classes(journal, known)
        session = Session(maker.learner, journal.header["classes"], journal)
        if not journal.is_new and not as_json:
            say(f"Resuming {kept.folder}: {session.n_answers:,} answer{'s' * (session.n_answers != 1)} so far.")
        report = (lambda facts: print(json_document(facts, indent=None), flush=True)) if as_json else None
        labelling = Labelling(session, pool, price, report, target, raw)
        try:
            reason = labelling.run()
        except KeyboardInterrupt:
            session.refresh()  # an answer may be in the journal and nowhere else yet
            _end(labelling, kept, "Interrupted.")
            raise
        _end(labelling, kept, reason)


def _end(labelling: Labelling, kept: SessionFiles, reason: str) -> None:
    n_answers = labelling.session.n_answers
    answers = "1 answer is" if n_answers == 1 else f"{n_answers:,} answers are"
    try:
        saved = labelling.export(kept)
    except BayeswiseError:
        say(
            "",
            reason,
            f"{answers} safe in {kept.journal}; run the same command to write the table and the model.",
        )
        raise
    if labelling.report is not None:
        labelling.report({"end": {"reason": reason, "n_labels": n_answers, **saved}})
        return
    say("", reason, f"{answers} saved; {saved['labelled']} and {saved['model']} are up to date.")
    if not labelling.is_complete:
        say("Run the same command to continue.")


@dataclass
class Maker:
    """Makes the learner of some classes that has seen the labels of the pool, and no answer."""

    pool: PoolTable
    target: str
    costs: Costs | None
    model: Any
    strategy: str
    random_share: float | Literal["auto"]
    average: bool
    overrides: dict[str, Any]
    rows: Any = None  # encoded once, also if a class is added

    def learner(self, classes: Sequence[Label]) -> ActiveLearner:
        from bayeswise.acquisition import ActiveLearner, Step
        from bayeswise.acquisition.pool import Pool

        model = self.model
        if model is not None:
            _refuse_other(classes, model.classes)
            self.rows = self.rows or Pool.seen_by(model, self.pool.source)
        else:
            made = self.rows or Pool.of(self.pool.source, self.target, classes, **self.overrides)
            self.rows = made.with_classes(classes)
            model = self.rows.empty_model(average=self.average)
        learner = ActiveLearner(model, self.costs, self.strategy, pool=self.rows, random_share=self.random_share)
        return learner.replay([Step(row, label, None, 1) for row, label in self.pool.labels.items()])


def _default_strategy(costs: Any) -> str:
    if costs is None:
        return "margin"
    return "ask" if costs.reject is not None or "ask" in costs.actions else "expected cost"


def _target(typed: str | None, decision: DecisionFile | None, model: Any) -> str:
    named = {name for name in (typed, decision and decision.target, model and model.schema.target.name) if name}
    if len(named) > 1:
        raise FitError(f"different targets are named: {', '.join(sorted(named))}", fix="name the same one everywhere")
    if not named:
        raise UsageError("there is no target", fix="add -t COL, the name of the label")
    return str(named.pop())


def _named(typed: str | None, decision: DecisionFile | None) -> list[Label]:
    """The classes that were typed, or those that the costs know."""
    if typed:
        return [name.strip() for name in typed.split(",")]
    return [] if decision is None else list(decision.costs.states)


def _classes(pool: PoolTable, model: Any, begun: bool) -> list[Label]:
    """Those that were named and that the pool has, or those of the model; a session that was begun has its own."""
    if model is not None:
        return list(model.classes)
    for label in pool.classes:
        pool.check_class(label)
    if len(pool.classes) < 2 and not begun:
        raise UsageError("at least two classes are needed", fix="name them: --classes A,B")
    return pool.classes


def _take_classes(journal: Journal, known: Sequence[Label]) -> None:
    """Record the classes that the session has not had before, so that it knows them whatever is typed later."""
    from bayeswise.cli.commands.label.pool import as_label_like

    named = [*journal.header["classes"], *(record["class"] for record in journal.records if "class" in record)]
    for label in (as_label_like(str(label), named) for label in known):
        if label not in named:
            journal.append({"class": label})
            named.append(label)


def _refuse_other(classes: Sequence[Label], known: Sequence[Label]) -> None:
    other = [label for label in classes if label not in known]
    if other:
        raise UsageError(
            f"the model does not know the class {other[0]!r}", fix="leave out --from, to start from scratch"
        )


def _check(header: dict[str, Any], target: str, folder: str) -> None:
    if header.get("bayeswise") != "labels" or header.get("version") != 1:
        raise FitError(f"{folder}/journal is of another kind or a later version", fix="name another session with -o")
    if header.get("target") != target:
        raise FitError(f"{folder!r} is a session about {header.get('target')!r}", fix=f"use -t {header.get('target')}")
