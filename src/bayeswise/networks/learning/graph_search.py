"""A structure search: its method, score and constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Constraints, Progress, Search
from bayeswise.networks.learning.independence_tests import GTest, pc_graph
from bayeswise.networks.learning.search.chow_liu_tree import chow_liu
from bayeswise.networks.learning.search.climbing import hill_climbing, k2
from bayeswise.networks.learning.search.dynamic_programming import best_graph
from bayeswise.networks.learning.search.miic import miic_graph
from bayeswise.networks.learning.search.scores import NmlScores, Scores
from bayeswise.render.labels import refuse_unknown

METHODS = ("auto", "hill-climbing", "exact", "k2", "chow-liu", "pc", "miic")
FEW_COLUMNS = 15  # up to this many the search is exact by default: below a second


@dataclass(frozen=True)
class GraphSearch:
    """The options of `learn` for the structure search."""

    method: str
    score: str
    rules: Constraints
    order: Sequence[str] | None
    root: str | None
    alpha: float
    smoothing: float
    tabu: int
    restarts: int | None
    seed: int
    progress: Progress

    def for_columns(self, n_columns: int, *, given: bool) -> GraphSearch:
        """The search with the method that "auto" selects; options that are not used are refused.

        A `given` graph uses none of them.
        """
        method = "parents" if given else self.method
        unused = {
            "order": self.order is not None and method != "k2",
            "root": self.root is not None and method != "chow-liu",
            "required, forbidden, tiers or max_parents": self.rules != Constraints()
            and method in ("chow-liu", "parents"),
        }
        for name, is_unused in unused.items():
            if is_unused:
                what = "a given graph" if given else f"method {method!r}"
                raise ParameterError(f"{what} does not use {name}", fix="leave it out, or choose another method")
        return replace(self, method=chosen_method(self.method, n_columns, self.restarts))

    def found(self, rows: CodedRows) -> Search:
        """The graph that the method finds in complete rows."""
        if self.method == "pc":
            return pc_graph(GTest(rows), self.rules, self.alpha, self.progress)
        if self.method == "miic":
            scores = NmlScores(rows) if self.score == "nml" else self._scores(rows)
            return miic_graph(scores, self.rules, self.progress)
        if self.method == "chow-liu":
            return Search(chow_liu(rows.complete(), self.root), 0.0)
        if self.method == "exact":
            return best_graph(self._scores(rows), self.rules, progress=self.progress)
        if self.method == "k2" and self.order is None:
            raise ParameterError(
                "K2 needs an order of the columns", fix="give order=[...] (--order A,B,C), causes first"
            )
        refuse_unknown(self.method, METHODS, "there is no method")
        return self.step_by_step(self._scores(rows))

    def step_by_step(self, scores: Scores) -> Search:
        """The graph of K2 if there is an order, else of hill climbing."""
        if self.method == "k2" and self.order is not None:
            parents = k2(scores, self.order, self.rules)
            return Search(parents, scores.total(parents))
        return hill_climbing(
            scores, self.rules, tabu=self.tabu, restarts=self.restarts, seed=self.seed, progress=self.progress
        )

    def _scores(self, rows: CodedRows) -> Scores:
        return Scores(rows, self.score, smoothing=self.smoothing)


def chosen_method(method: str, n_columns: int, restarts: int | None) -> str:
    """The method that "auto" selects: exact where there are few columns, unless `restarts` are given."""
    if method != "auto":
        return method
    return "exact" if restarts is None and n_columns <= FEW_COLUMNS else "hill-climbing"
