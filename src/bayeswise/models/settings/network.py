"""Settings of network classifiers: which structure, how its tables are smoothed, the prior of the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, get_args

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.settings import common
from bayeswise.models.settings.declaration import Settings, setting
from bayeswise.render.labels import Label
from bayeswise.store.fields import stored_field

Structure = Literal["naive", "tan", "aode", "k-dependence", "markov-blanket", "a2de"]
STRUCTURES: tuple[Structure, ...] = get_args(Structure)
AVERAGES: tuple[Structure, ...] = ("aode", "a2de")
"""Over one or two superparents: they have no single graph."""
MOST_IN_TRIPLES = 12
"""Columns whose triples are counted: 220."""
Needs = Literal["columns", "pairs", "triples", "families"]


@dataclass(frozen=True, eq=False, repr=False)
class Shape(Settings):
    """Which columns may depend on each other."""

    structure: Structure = setting(
        "tan",
        "columns depend on the class alone (naive), on one other each along the tree of most information (tan), on one "
        "and the same averaged over all (aode), on the same two averaged over all pairs (a2de), on k others "
        "(k-dependence) or as in any graph (markov-blanket)",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tables(Settings):
    """How tables are smoothed, and the prior of the classes."""

    prior: Literal["laplace", "m-estimate", "bdeu"] = setting(
        "laplace",
        "pseudo-counts are per cell of a table (laplace), per row (m-estimate) or per table (bdeu)",
        metavar="NAME",
    )
    smoothing: float = setting(
        1.0, "pseudo-counts: per cell, row or table, as prior says", earlier="strength", at_least=0
    )
    class_prior: Mapping[Label, float] | None = common.class_prior()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class KDependence(Tables):
    """Tables of a k-dependence classifier."""

    k: int = setting(2, "maximum number of columns that a column depends on", at_least=0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Aode(Tables):
    """Tables of averaged one-dependence estimators."""

    min_frequency: float = setting(1.0, "minimum number of rows of a level that is a superparent", at_least=0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarkovBlanket(Tables):
    """Tables of any graph."""

    score: Literal["auto", "bic", "aic", "mdl", "bdeu", "k2"] = setting(
        "auto",
        "score that the search maximises; auto: of bic (or mdl), aic, bdeu and k2 the one whose graph predicts the "
        "class of left-out rows best",
        earlier="criterion",
    )
    max_parents: int = setting(3, "maximum number of parents of a node", at_least=1)


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(MarkovBlanket, Aode, KDependence, Shape):
    """What a network classifier keeps; `incomplete` says whether EM finds the tables where cells are missing.

    >>> NetworkSettings("tan", smoothing=2.0).needs, NetworkSettings("k-dependence", k=2).needs
    ('pairs', 'families')
    """

    incomplete: Literal["available", "em"] = field(default="available", metadata=stored_field({}, "holes", later=True))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.incomplete == "em" and self.structure in AVERAGES:
            raise ParameterError(
                "an average over superparents has no single graph whose tables EM could find",
                fix="choose another structure, such as 'tan', or missing='ignore'",
            )

    @property
    def needs(self) -> Needs:
        """Which counts the tables are made of: of columns, of pairs or triples of them, or of families found before."""
        if self.structure == "a2de":
            return "triples"
        if self.structure == "markov-blanket" or (self.structure == "k-dependence" and self.k > 1):
            return "families"
        return "columns" if self.structure == "naive" else "pairs"

    @property
    def convention(self) -> str:
        """The structure and its prior in a few words."""
        shown = f"{self.k}-dependence" if self.structure == "k-dependence" else self.structure
        return f"{shown}, {self.prior} {self.smoothing:g}{', em' if self.incomplete == 'em' else ''}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetworkOptions(common.ColumnOptions):
    """What matters while a network classifier is learned."""

    missing: str | Mapping[str, str] = setting("ignore", "ignore (summed out), level, error or em")
    cuts: Mapping[str, Sequence[float]] | None = setting(
        None,
        "cut points of number columns, instead of those chosen by the classes",
        metavar="COL=5,7",
        form='{"age": [30, 50]}',
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TanOptions(Tables, NetworkOptions):
    """All that `fit` takes for a tree-augmented network."""

    model: Literal["tan"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AodeOptions(Aode, NetworkOptions):
    """All that `fit` takes for averaged one-dependence estimators."""

    model: Literal["aode"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class KDependenceOptions(KDependence, NetworkOptions):
    """All that `fit` takes for a k-dependence classifier."""

    model: Literal["k-dependence"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarkovBlanketOptions(MarkovBlanket, NetworkOptions):
    """All that `fit` takes for a classifier of any graph."""

    model: Literal["markov-blanket"]


def divided_missing(missing: Any) -> tuple[Any, dict[str, str]]:
    """What a missing cell means to a column, and what it means to the tables: "em" is about these.

    >>> divided_missing("em"), divided_missing({"age": "em", "wind": "level"})
    (('ignore', {'incomplete': 'em'}), ({'age': 'ignore', 'wind': 'level'}, {'incomplete': 'em'}))
    """
    if not isinstance(missing, Mapping):
        return ("ignore", {"incomplete": "em"}) if missing == "em" else (missing, {})
    if "em" not in missing.values():
        return missing, {}
    if "ignore" in missing.values():
        name = next(name for name, policy in missing.items() if policy == "ignore")
        raise ParameterError(
            f"missing cells of {name!r} are to be ignored and those of other columns to be found by EM",
            fix="EM takes all columns together: use 'em' for this one, too, or 'level'",
        )
    return {name: "ignore" if policy == "em" else policy for name, policy in missing.items()}, {"incomplete": "em"}
