"""A labelling session: a learner whose answers are journaled before they count, and which can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bayeswise.acquisition.journal import Journal
from bayeswise.acquisition.learner import ActiveLearner
from bayeswise.acquisition.pool_risk import Step
from bayeswise.acquisition.queries import Query
from bayeswise.foundation.errors import ParameterError, StoreError
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state, label_of

SKIPPED, UNKNOWN, AGAIN, UNDO = "skip", "unknown", "again", "undo"


class Session:
    """Queries one row after the other; each answer is one record.

    {"row": 3, "label": "no", "chance": 0.91, "n_open": 20}     {"row": 3, "skip": true, ...}
    {"row": 3, "unknown": true, ...}     {"undo": true}     {"again": true}: the skipped rows come back
    {"class": "maybe"}: one class more

    `make` gives the learner of some classes that has seen no answer yet.
    """

    def __init__(self, make: Callable[[list[Label]], ActiveLearner], classes: Sequence[Any], journal: Journal) -> None:
        self.journal = journal
        self._make = make
        self._classes = [label_of(label) for label in classes]
        self.refresh()

    def refresh(self) -> None:
        """Begin again from the journal alone."""
        self.learner = self._make(self.classes)
        self._query: Query | None = None
        self._standing: list[dict[str, Any]] = []
        self._labelled = {row for row, _ in self.learner.taught}
        for k, record in enumerate(self.journal.records):
            self._apply(record, f"record {k + 1} of {self.journal.path}")
        self.learner.replay([_step(record) for record in self._standing if "row" in record])
        self._follow_again()

    # -- what stands ------------------------------------------------------------------------------------------
    @property
    def classes(self) -> list[Label]:
        """In the order in which they were named."""
        added = [label_of(record["class"]) for record in self.journal.records if "class" in record]
        return list(dict.fromkeys([*self._classes, *added]))

    @property
    def n_answers(self) -> int:
        """The labels that were given in this session."""
        return sum("label" in record for record in self._standing)

    @property
    def n_skipped(self) -> int:
        return len(self._waiting())

    @property
    def n_unknown(self) -> int:
        return sum(UNKNOWN in record for record in self._standing)

    def _waiting(self) -> list[int]:
        """The rows that were skipped and have no answer yet, in the order in which they were skipped last."""
        rows: dict[int, None] = {}
        for record in self._standing:
            if "row" in record:
                rows.pop(record["row"], None)
                if SKIPPED in record:
                    rows[record["row"]] = None
        return list(rows)

    # -- queries ----------------------------------------------------------------------------------------------
    def ask(self) -> Query | None:
        """The next row, the same one until it is answered; None when there is none left."""
        if self._query is None:
            if not self.learner.n_open and self._may_come_again():
                self._record({AGAIN: True})
                self._follow_again()
            self._query = self.learner.query()[0] if self.learner.n_open else None
        return self._query

    def _may_come_again(self) -> bool:
        """Skipped rows come back, unless all of them were skipped again the last time."""
        since = self._standing
        if any(AGAIN in record for record in since):
            last = max(k for k, record in enumerate(since) if AGAIN in record)
            since = [record for record in since[last + 1 :] if SKIPPED not in record]
        return bool(since and self._waiting())

    def _follow_again(self) -> None:
        """Open the rows that were skipped before they were brought back the last time, and not since."""
        places = [k for k, record in enumerate(self._standing) if AGAIN in record]
        since = {record["row"] for record in self._standing[places[-1] + 1 :]} if places else set()
        self.learner.reopen([row for row in self._waiting() if row not in since] if places else [])

    # -- answers ----------------------------------------------------------------------------------------------
    def answer(self, label: Any) -> Query:
        """Label the current row."""
        classes = self.learner.model.classes
        return self._close({"label": classes[find_state(label, classes, what="there is no class")]})

    def add_class(self, label: Any) -> None:
        """One class more; what was answered is learned again with it."""
        if Vocabulary(self.learner.model.classes).code(label) < 0:
            self._make([*self.classes, label_of(label)])  # finds what is wrong before it is recorded
            self.journal.append({"class": label_of(label)})
            self.refresh()

    def skip(self) -> Query:
        """Query this row later, when all others are done."""
        return self._close({SKIPPED: True})

    def do_not_know(self) -> Query:
        """Do not query this row again."""
        return self._close({UNKNOWN: True})

    def undo(self) -> int | None:
        """Take the last answer back and return its row; None if there is none."""
        last = next((record for record in reversed(self._standing) if "row" in record), None)
        if last is None:
            return None
        self._record({UNDO: True})
        self.learner.undo()
        self._follow_again()
        self._query = None
        return int(last["row"])

    def _asked(self) -> Query:
        query = self.ask()
        if query is None:
            raise ParameterError("no row is open", fix="give a larger pool")
        return query

    def _close(self, answer: dict[str, Any]) -> Query:
        query = self._asked()
        again = query.row in self._waiting()  # it was drawn before: this time it was not drawn
        drawn = {} if again else {"chance": query.chance, "n_open": query.n_open}
        record = {"row": query.row, **answer, **drawn}
        self._record(record)
        self.learner.take(_step(record))
        self._query = None
        return query

    # -- the journal ------------------------------------------------------------------------------------------
    def _record(self, record: dict[str, Any]) -> None:
        self.journal.append(record)
        self._apply(record, str(self.journal.path))

    def _apply(self, record: dict[str, Any], where: str) -> None:
        if record.get(UNDO):
            self._apply_undo()
        elif record.get(AGAIN) or self._is_answer(record):
            self._standing.append(record)
            self._labelled.update([record["row"]] if "label" in record else [])
        elif "class" not in record:
            raise StoreError(f"{where} is not an answer of this session: {record}", fix="restore a copy of the journal")

    def _apply_undo(self) -> None:
        while self._standing:
            last = self._standing.pop()
            if "row" in last:
                self._labelled -= {last["row"]} if "label" in last else set()
                return

    def _is_answer(self, record: dict[str, Any]) -> bool:
        row, chance = record.get("row"), record.get("chance", 1.0)
        if type(row) is not int or not 0 <= row < self.learner.pool.n_rows or not isinstance(chance, int | float):
            return False
        known = "label" not in record or Vocabulary(self.learner.model.classes).code(record["label"]) >= 0
        answers = sum(key in record for key in ("label", SKIPPED, UNKNOWN))
        return answers == 1 and known and row not in self._labelled and 0 < chance <= 1


def _step(record: dict[str, Any]) -> Step:
    return Step(record["row"], record.get("label"), record.get("chance"), int(record.get("n_open", 1)))
