"""What is believed before the rows: which structure, how its tables are smoothed, the prior of the classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from bayeswise.foundation.arrays import make_plain
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.scores import SCORES
from bayeswise.posteriors.prior import check_shares
from bayeswise.render.labels import guess
from bayeswise.store.fields import added_later
from bayeswise.tables.schema.labels import Label

STRUCTURES = ("naive", "tan", "aode", "k-dependence", "markov-blanket")
PRIORS = ("laplace", "m-estimate", "bdeu")
HOLES = ("available", "em")
Needs = Literal["columns", "pairs", "families"]


@dataclass(frozen=True)
class NetworkSettings:
    """The beliefs of a network classifier.

    structure      "naive", "tan", "aode", "k-dependence" or "markov-blanket"
    prior          pseudo-counts: "laplace" for each cell of a table, "m-estimate" for each of its rows, shared by the
                   cells, "bdeu" for the whole table
    strength       how many of them
    class_prior    probability by class, or None to count
    k              k-dependence: the most columns that a column depends on
    min_frequency  aode: a level with fewer rows is not a superparent
    criterion      markov-blanket: what the search maximises, "bic", "aic", "mdl", "bdeu" or "k2"
    max_parents    markov-blanket: the most parents of a node
    missing values          tables count the cells that are there ("available"), or what EM expects of all rows ("em")

    >>> NetworkSettings("tan", strength=2.0).needs, NetworkSettings("k-dependence", k=2).needs
    ('pairs', 'families')
    """

    structure: str = "tan"
    prior: str = "laplace"
    strength: float = 1.0
    class_prior: Mapping[Label, float] | None = None
    k: int = 2
    min_frequency: float = 1.0
    criterion: str = "bic"
    max_parents: int = 3
    holes: str = added_later("available")

    def __post_init__(self) -> None:
        make_plain(self)
        choices = (("structure", STRUCTURES), ("prior", PRIORS), ("criterion", SCORES), ("holes", HOLES))
        for name, allowed in choices:
            found = getattr(self, name)
            if found not in allowed:
                raise ParameterError(f"there is no {name} {found!r}", fix=guess(found, allowed))
        for name in ("strength", "min_frequency"):
            if not _is_amount(getattr(self, name)):
                raise ParameterError(f"{name} must be a number from 0 on; found {getattr(self, name)!r}")
        for name, least in (("k", 0), ("max_parents", 1)):
            found = getattr(self, name)
            if not isinstance(found, int) or isinstance(found, bool) or found < least:
                raise ParameterError(f"{name} must be a whole number from {least} on; found {found!r}")

        if self.class_prior is not None:
            check_shares(self.class_prior)
        if self.holes == "em" and self.structure == "aode":
            raise ParameterError(
                "an average over superparents has no single graph whose tables EM could find",
                fix="choose another structure, such as 'tan', or missing='ignore'",
            )

    @property
    def needs(self) -> Needs:
        """Which counts the tables are made of: of columns, of pairs of columns, or of families found beforehand."""
        if self.structure == "markov-blanket" or (self.structure == "k-dependence" and self.k > 1):
            return "families"
        return "columns" if self.structure == "naive" else "pairs"

    def changed(self, **changes: Any) -> NetworkSettings:
        """The same beliefs but for these.

        >>> NetworkSettings("tan").changed(smoothing=2.0).strength
        2.0
        """
        changes = {"strength" if name == "smoothing" else name: value for name, value in changes.items()}
        known = [each.name for each in fields(self)]
        for name in changes:
            if name not in known:
                raise ParameterError(f"there is no setting {name!r}", fix=guess(name, known))
        return replace(self, **changes)

    @property
    def convention(self) -> str:
        """The structure and its prior in a few words."""
        shown = f"{self.k}-dependence" if self.structure == "k-dependence" else self.structure
        return f"{shown}, {self.prior} {self.strength:g}{', em' if self.holes == 'em' else ''}"

    def __str__(self) -> str:
        return self.convention


def divided_missing(missing: Any) -> tuple[Any, dict[str, str]]:
    """What a missing cell means to a column, and what it means to the tables: "em" is about these.

    >>> divided_missing("em"), divided_missing({"age": "em", "wind": "level"})
    (('ignore', {'holes': 'em'}), ({'age': 'ignore', 'wind': 'level'}, {'holes': 'em'}))
    """
    if not isinstance(missing, Mapping):
        return ("ignore", {"holes": "em"}) if missing == "em" else (missing, {})
    if "em" not in missing.values():
        return missing, {}
    if "ignore" in missing.values():
        name = next(name for name, policy in missing.items() if policy == "ignore")
        raise ParameterError(
            f"missing cells of {name!r} are to be ignored and those of other columns to be found by EM",
            fix="EM takes all columns together: use 'em' for this one, too, or 'level'",
        )
    return {name: "ignore" if policy == "em" else policy for name, policy in missing.items()}, {"holes": "em"}


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
