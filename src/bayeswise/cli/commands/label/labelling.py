"""The loop of a labelling session: show a case, take an answer, save it, show the next one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bayeswise.acquisition.queries import Query
from bayeswise.acquisition.session import Session
from bayeswise.cli.commands.label.keys import NEW, QUIT, SKIP, TYPED, UNDO, UNKNOWN, WHY, Answers, Keys
from bayeswise.cli.commands.label.pool import PoolTable, SessionFiles, as_label_like
from bayeswise.cli.commands.label.screen import Screen, Standing, case_facts, case_text, why_text
from bayeswise.cli.output.writing import write_rows
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import DataError, UsageError
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import json_value
from bayeswise.tables.schema.labels import Label

_WORDS = {SKIP: "skip", UNKNOWN: "unknown", UNDO: "undo", QUIT: "quit"}  # in the answers of a program


@dataclass
class Labelling:
    """One session: it ends when the answers do, when a label is not worth its price, or when all rows are done."""

    session: Session
    table: PoolTable
    price: float | None
    report: Callable[[dict[str, Any]], None] | None  # for a program that answers; None at a terminal
    target: str
    raw: bool = False

    def __post_init__(self) -> None:
        self._answers, self._screen, self._note = Answers(), Screen(), ""

    def run(self) -> str:
        """Ask until there is a reason to stop, and return it."""
        while True:
            query = self.session.ask()
            if query is None:
                done = self.session.n_answers == 0 and self.is_complete
                return "Every row already has a label." if done else "Every row has been shown."
            standing = Standing.of(self.session, self.price, query)
            reason = self._reason_to_stop(query, standing)
            if reason is not None:
                return reason
            keys = Keys.of(self.session.classes)
            self._show(query, standing, keys)
            if not self._take(query, keys):
                return "Stopped."

    @property
    def is_complete(self) -> bool:
        """Whether every row has a label."""
        return len(dict(self.session.learner.taught)) == self.table.n_rows

    def _reason_to_stop(self, query: Query, standing: Standing) -> str | None:
        learner = self.session.learner
        if query.strategy == "ask" and query.score <= 0:
            return "No row is left whose best action is to ask."
        if self.price is None or learner.strategy == "ask" or learner.is_warming_up:
            return None
        if standing.saving is None or standing.saving > self.price or standing.is_overconfident:
            return None
        if query.strategy == "random" and learner.worth_asking(self.price):
            return None
        return (
            f"The next label is expected to save {number(standing.saving, 3)} over all rows; "
            f"its price is {self.price:g}. Leave out --price to go on."
        )

    # -- one case ---------------------------------------------------------------------------------------------
    def _show(self, query: Query, standing: Standing, keys: Keys) -> None:
        if self.report is not None:
            self.report({**case_facts(self.table, query, standing), **standing.to_dict()})
        else:
            self._screen.show(case_text(self.table, query, standing, keys, self._screen.width), self._note)
        self._note = ""

    def _take(self, query: Query, keys: Keys) -> bool:
        """Take keys until one of them is an answer; False when there are none left."""
        while True:
            try:
                typed = self._answers.key(keys)
            except DataError as error:
                self._complain(str(error))
                continue
            meaning = ("command", QUIT) if typed is None else self._meaning(typed.strip() or typed, keys)
            if meaning == ("command", QUIT):
                return False
            if meaning is None or meaning == ("command", TYPED):
                self._complain(f"'{shown(typed, 30)}' is not a key here.", keys)
            elif meaning == ("command", WHY):
                self._screen.say(why_text(self.session, query, self._screen.width))
            elif self._done(query, *meaning):
                return True

    def _meaning(self, typed: str, keys: Keys) -> tuple[str, Label] | None:
        """A key or the name of a class; to a program also an object such as {"label": "spam"} or {"undo": true}."""
        if self.report is None or not typed.startswith("{"):
            return keys.meaning(typed)
        try:
            answer = json.loads(typed)
        except ValueError:
            return None
        if "label" in answer:
            by_name = {str(label): label for label in self.session.classes}
            return ("class", by_name[str(answer["label"])]) if str(answer["label"]) in by_name else None
        return next((("command", key) for key, word in _WORDS.items() if answer.get(word) is True), None)

    def _done(self, query: Query, kind: str, what: Label) -> bool:
        """Carry out an answer; whether the next case is due."""
        row = query.row + 1
        if kind == "class":
            self.session.answer(what)
            self._acknowledge({"row": row, "label": json_value(what)}, f"Saved: row {row:,} is {shown(what, 40)}.")
        elif what == SKIP:
            self.session.skip()
            self._acknowledge({"row": row, "skip": True}, f"Row {row:,} comes again later.")
        elif what == UNKNOWN:
            self.session.do_not_know()
            self._acknowledge({"row": row, "unknown": True}, f"Row {row:,} is not asked again.")
        elif what == UNDO:
            return self._undo()
        elif what == NEW:
            return self._new_class()
        return True

    def _undo(self) -> bool:
        undone = self.session.undo()
        if undone is None:
            self._complain("There is no answer to take back.")
            return False
        self._acknowledge({"undo": undone + 1}, f"Taken back: the answer to row {undone + 1:,}.")
        return True

    def _new_class(self) -> bool:
        name = self._answers.named("Name of the new class:")
        if name is None or not name.strip():
            self._complain("No class was named.")
            return False
        try:
            self.table.check_class(name)
            self.session.add_class(as_label_like(name.strip(), self.session.learner.model.classes))
        except UsageError as error:
            self._complain(str(error))
            return False
        self._acknowledge({"class": name.strip()}, f"Saved: there is a class {shown(name.strip(), 40)} now.")
        return True

    def _acknowledge(self, facts: dict[str, Any], text: str) -> None:
        if self.report is not None:
            self.report({"saved": facts})
        elif self._screen.clears:
            self._note = text
        else:
            self._screen.say(text)

    def _complain(self, text: str, keys: Keys | None = None) -> None:
        """Say what is wrong, and what can be pressed instead; a terminal shows that already."""
        if self.report is not None:
            self.report({"refused": text if keys is None else f"{text} {keys.line()}"})
        else:
            self._screen.say(text, *(keys.lines(self._screen.width) if keys and not self._screen.clears else ()))

    # -- the end ----------------------------------------------------------------------------------------------
    def export(self, kept: SessionFiles) -> dict[str, Any]:
        """Write the labelled table and the model, each atomically."""
        model = self.session.learner.model
        taught = dict(self.session.learner.taught)
        rows = sorted(taught)
        names = [*self.table.cells, self.target]
        columns = [[self.table.cells[name][row] for row in rows] for name in self.table.cells]
        cells = [*columns, [taught[row] for row in rows]]
        text = kept.form.text(self.table.source, model.schema, as_json=False, raw=self.raw, about={}, totals=dict)
        write_rows([(cells, [False] * len(names))], names, text, str(kept.table))
        model.save(kept.model)
        return {"labelled": str(kept.table), "model": str(kept.model)}
