"""The fitted network classifier: schema, cuts, settings, exact counts, and a graph where counts cannot choose one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeswise.engines import Request, summarise
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, NotFittedError, ParameterError
from bayeswise.models.base.classifier import Classifier
from bayeswise.models.base.table_model import Capabilities, ModelFacts, where_rows_are
from bayeswise.models.from_table import no_rows
from bayeswise.models.settings.network import AVERAGES, Needs, NetworkSettings
from bayeswise.networks.classifiers.coding import MISSING_LEVEL, Coding
from bayeswise.networks.classifiers.column_graph import Graph, Information, k_parents, tree
from bayeswise.networks.classifiers.counted import INCOMPLETE, PAIRS, Counted, request_of, triple_name
from bayeswise.networks.classifiers.graph_scores import GraphScores
from bayeswise.networks.classifiers.left_out import log_joint_left_out
from bayeswise.networks.classifiers.superparent_pairs import SuperparentPairScores
from bayeswise.networks.classifiers.superparents import SuperparentScores
from bayeswise.networks.node import intervals
from bayeswise.posteriors.normalise import normalise
from bayeswise.statistics import Grouped, Product
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import MISSING, UNSEEN, Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account
    from bayeswise.networks.network import BeliefNetwork


@dataclass(frozen=True, repr=False, eq=False)
class NetworkClassifierModel(Classifier):
    """p(state | row) from a network of the class and all columns; a frozen value.

    The structures "naive", "tan", "aode" and 1-dependence are functions of the counts, so they are selected again when
    rows are learned or forgotten. The others need counts of more than pairs: their `parents` are found once, and kept.
    """

    settings: NetworkSettings
    cuts: Mapping[str, tuple[float, ...]]
    parents: Mapping[str, tuple[str, ...]] | None = None
    given_cuts: tuple[str, ...] = added_later(())  # the columns whose cuts were not found in rows, sorted
    capabilities: ClassVar[Capabilities] = replace(Classifier.capabilities, level_counts=True)

    def __post_init__(self) -> None:
        kept = self.parents is not None
        needs, holds = self.settings.needs, self.holds
        too_few = (needs == "pairs" and holds not in ("pairs", "triples")) or (
            needs == "triples" and holds != "triples"
        )
        if (needs == "families") != kept or too_few:
            raise ParameterError(
                f"the structure {self.settings.structure!r} cannot be computed from these counts", fix="fit it again"
            )
        if self.settings.incomplete == "em" and INCOMPLETE not in self.statistics.part.parts:
            raise ParameterError("the rows with missing cells were not kept", fix="fit it again with missing='em'")
        if self.settings.class_prior is not None and self.graph_kept is not None and self.graph_kept.class_parents:
            raise ParameterError(
                "the class has parents in this graph and so no prior of its own",
                fix="fit it again with class_prior={...} (--prior CLASS=P)",
            )

    @property
    def encoded_schema(self) -> Schema:
        return self.coding.coded

    # -- properties -------------------------------------------------------------------------------------------
    @property
    def target(self) -> str:
        return self.schema.target.name if self.schema.target else "class"

    @cached_property
    def coding(self) -> Coding:
        return Coding(self.schema, self.cuts)

    @cached_property
    def graph_kept(self) -> Graph | None:
        """The graph that was found before the counts, if there is one."""
        return None if self.parents is None else Graph.of_names(self.parents, self.coding.columns, self.target)

    @cached_property
    def counted(self) -> Counted:
        if not self.classes:
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        return Counted.of(self.statistics.part, self.coding.columns, self.graph_kept)

    @cached_property
    def information(self) -> Information:
        """The information of columns about each other given the class, and about the class."""
        return Information(self.counted.needed_pairs)

    @cached_property
    def scores(self) -> GraphScores | SuperparentScores | SuperparentPairScores:
        """The structure with its tables."""
        if self.settings.structure == "a2de":
            return SuperparentPairScores(self.counted, self.settings, self.log_prior)
        if self.settings.structure == "aode":
            return SuperparentScores(self.counted, self.settings, self.log_prior)
        return GraphScores(self.graph, self.expected, self.settings, self.log_prior)

    @cached_property
    def expected(self) -> Counted:
        """The counts that tables are made of: of present cells, or the expected counts of EM."""
        if self.settings.incomplete != "em":
            return self.counted
        from bayeswise.networks.classifiers.em import completed  # late: complete rows need no EM

        incomplete = self.statistics.part[INCOMPLETE]
        return completed(self.counted, incomplete, self.graph, self.settings, self.class_weight)

    @cached_property
    def graph(self) -> Graph:
        """Which columns a column depends on."""
        if self.settings.structure in AVERAGES:
            raise ParameterError(
                "an average over superparents has no single graph", fix="use model.superparent_network(column)"
            )
        if self.graph_kept is not None:
            return self.graph_kept
        if self.settings.structure == "naive":
            return Graph.of_parents([()] * len(self.coding.columns))
        information = self.information
        return Graph.of_forest(self.forest(information.between[None], information.about_class[None])[0])

    def forest(self, between: FloatArray, about_class: FloatArray) -> IntArray:
        """(n_models, n_columns) the parents selected by this information, -1 for none."""
        if self.settings.structure == "tan":
            return tree(between, about_class)
        if self.settings.k == 0:
            return np.full(about_class.shape, -1, dtype=np.int64)
        return k_parents(between, about_class, 1)[:, :, 0]

    @cached_property
    def network(self) -> BeliefNetwork:
        """The belief network of the class and the columns, numbers as named intervals."""
        return self._named(GraphScores(self.graph, self.expected, self.settings, self.log_prior))

    def superparent_network(self, column: str) -> BeliefNetwork:
        """The network in which every column depends on this one: one of those that "aode" averages."""
        if not isinstance(self.scores, SuperparentScores):
            raise ParameterError("only the structure 'aode' has superparents", fix="use model.network")
        place = self.coding.columns.index(find_name(column, self.coding.columns, where="the model"))
        return self._named(self.scores.one(place))

    def _named(self, scores: GraphScores) -> BeliefNetwork:
        names = list(self.coding.columns)
        levels = [
            Vocabulary(self.coding.words(name, known)) for name, known in zip(names, self.counted.levels, strict=True)
        ]
        return scores.network(names, tuple(levels), self.target, Vocabulary(self.classes))

    def facts(self) -> ModelFacts:
        return ModelFacts(self.dependences)

    @property
    def dependences(self) -> dict[str, str]:
        """The parents of each column besides the class, as text."""
        if self.settings.structure in AVERAGES:
            return dict.fromkeys(self.coding.columns, "given each other")
        above = self.graph.to_names(self.coding.columns, self.target)
        return {name: _given(above[name], self.target) for name in self.coding.columns}

    def level_counts(self, column: str) -> tuple[list[Any], FloatArray, FloatArray]:
        """The named levels of a column, their weights (n_states, n_levels), and of rows without it (n_states,)."""
        place = self.coding.columns.index(column)
        words = self.coding.words(column, self.counted.levels[place])
        return words, self.counted.singles[place], self.counted.missing[place]

    def n_free_parameters(self) -> int:
        """The number of free parameters of the tables."""
        return self.scores.n_free_parameters()

    # -- predictions -------------------------------------------------------------------------------------------
    def codes(self, batch: Batch) -> CodeArray:
        """(n_rows, n_columns) the levels of a batch, by their position in the model's."""
        return self.coding.codes(batch, self.counted.levels)

    def log_joint(self, batch: Batch) -> FloatArray:
        return self.scores.log_joint(self.codes(batch))

    def log_relative(self, batch: Batch) -> FloatArray:
        return self.log_joint(batch)

    def probability(self, batch: Batch) -> FloatArray:
        joint = self.log_joint(batch)
        return normalise(joint, out=joint).probability

    def log_evidence(self, table: Any) -> FloatArray:
        """(n_rows,) log p(row): low for rows unlike the learned ones."""
        return self.over(table, lambda batch: normalise(self.log_joint(batch)).log_evidence, ())

    @where_rows_are
    def explain(self, row: Any) -> Account:
        """Why, for one row: the prior, and the contribution of each column given those before it."""
        return account_of(self, self.row_of(row))

    # -- learning and forgetting rows -------------------------------------------------------------------------
    @property
    def holds(self) -> Needs:
        """Which counts are kept."""
        if PAIRS in self.statistics.part.parts:
            scopes = combinations(range(len(self.coding.columns)), 3)
            whole = all(triple_name(scope) in self.statistics.part.parts for scope in scopes)
            return "triples" if whole and self.settings.structure == "a2de" else "pairs"
        return "columns" if self.parents is None else "families"

    def request(self) -> Request:
        """What the model needs of coded rows."""
        return request_of(self.coding, self.holds, self.graph_kept, INCOMPLETE in self.statistics.part.parts)

    def merge(self, other: Self) -> Self:
        """The model of both sets of rows; schema, cuts, settings and a graph that is kept must be the same."""
        if self.cuts != other.cuts:
            raise KindError(
                "the models cannot be merged: their numbers are cut differently", fix="fit one with cuts=other.cuts"
            )
        if self.parents != other.parents:
            raise KindError(
                "the models cannot be merged: they have different graphs", fix="let one learn the rows of the other"
            )
        both = tuple(sorted({*self.given_cuts} & {*other.given_cuts}))
        return replace(super().merge(other), given_cuts=both)

    def log_relative_left_out(self, batch: Batch) -> FloatArray:
        return log_joint_left_out(self, batch)

    @property
    def selected_by_rows(self) -> tuple[str, ...]:
        cuts = ("cuts",) if set(self.schema.numbers) - set(self.given_cuts) else ()
        return cuts if self.parents is None else (*cuts, "graph")

    @property
    def cells_per_row(self) -> int:
        n_columns = len(self.coding.columns)
        pairs = n_columns if self.settings.needs == "columns" else n_columns * n_columns
        pairs *= n_columns if self.settings.needs == "triples" else 1
        return 4 * pairs if self.settings.structure == "markov-blanket" else pairs  # a search counts several times

    def relearned(self, batches: Sequence[Batch]) -> Self:
        """The model of these rows alone: the graph, and cuts that were not given, are found in them."""
        from bayeswise.networks.classifiers.learning import prepared

        given = {name: self.cuts[name] for name in self.given_cuts}
        return prepared(lambda: batches, self.schema, self.settings, given, learned=batches)  # type: ignore[return-value]

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> dict[str, list[Any]]:
        """n rows drawn from the network, as columns; numbers as the intervals they were cut into."""
        generator = np.random.default_rng(seed)
        scores, columns = self.scores, self.coding.columns
        if isinstance(scores, GraphScores):
            return dict(self.network.sample(n, generator))
        members: list[Callable[[], GraphScores]] = []
        if isinstance(scores, SuperparentPairScores):
            members = [partial(scores.one, pair) for pair in scores.ordered_pairs]
            scores = scores.of_one
        members = members or [partial(scores.one, place) for place in range(len(columns))]
        shares = generator.multinomial(n, np.full(len(members), 1.0 / len(members)))
        parts = [(self._named(member()), int(m)) for member, m in zip(members, shares, strict=True) if m]
        drawn = [network.sample(m, generator) for network, m in parts]
        order = generator.permutation(n)
        together = {name: [cell for part in drawn for cell in part[name]] for name in (*columns, self.target)}
        return {name: [cells[k] for k in order] for name, cells in together.items()}

    def summary(self, batches: Iterable[Batch], progress: Callable[[int], None] | None = None) -> Grouped[Product]:
        """The counts of encoded rows."""
        coded = (self.coding.batch(batch) for batch in batches)
        return summarise(coded, self.coding.coded, self.request(), progress=progress).statistics

    def learned_like(self, table: Any) -> tuple[Self, Report]:
        """The table under the same cuts, graph and settings, so that both can be merged; and its report."""
        source = open_like(table, self.schema)
        encoder = Encoder(self.schema, learning=True)
        summary = self.summary(encoder.batches(source))
        if not summary.labels:
            raise no_rows(source, self.schema)
        return replace(self, statistics=summary), encoder.report

    def _summary(self, table: Any, targets: Any, weights: Any, check: bool) -> Grouped[Product]:
        return self.summary(self.learned(table, targets, weights, check))

    # -- encoding ---------------------------------------------------------------------------------------------
    @cached_property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The levels that the model knows, by column of categories."""
        known = dict(zip(self.coding.columns, self.counted.levels, strict=True))
        return {name: self._labels(name, known[name]) for name in self.schema.categories}

    def _labels(self, name: str, levels: Vocabulary) -> Vocabulary:
        """Without the level for missing cells; text may be spelt like it."""
        if self.schema[name].missing != "level" or self.schema[name].labels == "text":
            return levels
        return Vocabulary([level for level in levels if level != MISSING_LEVEL])


def _given(parents: tuple[str, ...], target: str) -> str:
    """What a column depends on besides the class.

    >>> _given(("y",), "y"), _given(("y", "age"), "y"), _given(("age",), "y")
    ('alone', 'given age', 'given age, not the class')
    """
    others = [parent for parent in parents if parent != target]
    given = f"given {', '.join(others)}" if others else "alone"
    return given if target in parents else f"{given}, not the class"


def account_of(model: NetworkClassifierModel, batch: Batch) -> Account:
    """The account of one row: log p(state) and, column by column, log p(cell | cells before it, state).

    Parents come before children, so a column's share is log p(cell | parents, state) where no parent is missing, and
    otherwise log p(cell | all cells before, state). The shares always add up to the log joint.
    """
    from bayeswise.explanations.account import Account, Contribution

    codes = model.codes(batch)[0]
    averaged = model.settings.structure in AVERAGES
    order = tuple(range(len(codes))) if averaged else model.graph.order
    log_joint = _step_by_step(model, codes, order)  # (n_columns + 1, n_states)
    if averaged:
        log_joint[0] = model.log_prior
    shares = _differences(log_joint)
    parts = {}
    for place, share in zip(order, shares, strict=True):
        value, note = _shown(model, batch, place, int(codes[place]))
        given = () if averaged else model.graph.parents[place]
        notes = [note] if note else []
        notes += [f"given {', '.join(model.coding.columns[above] for above in given)}"] if given else []
        parts[place] = Contribution(model.coding.columns[place], value, share, "; ".join(notes))
    return Account(model.classes, log_joint[0], tuple(parts[place] for place in sorted(parts)), str(model.settings))


def _step_by_step(model: NetworkClassifierModel, codes: CodeArray, order: tuple[int, ...]) -> FloatArray:
    """The log joint of nothing, of the first cell, of the first two, ..."""
    known = np.full((len(order) + 1, len(codes)), MISSING, dtype=np.int32)
    for step, place in enumerate(order, start=1):
        known[step:, place] = codes[place]
    return model.scores.log_joint(known)


def _differences(log_joint: FloatArray) -> FloatArray:
    """The increment of each step; 0 once a state is impossible."""
    before, after = log_joint[:-1], log_joint[1:]
    excluded = np.isneginf(before)
    return np.where(excluded, 0.0, after - np.where(excluded, 0.0, before))


def _shown(model: NetworkClassifierModel, batch: Batch, place: int, code: int) -> tuple[Any, str]:
    """The cell as the user would write it, and how it was used."""
    name, schema = model.coding.columns[place], model.schema
    level = model.counted.levels[place][code] if code >= 0 else None
    if level == MISSING_LEVEL:
        return None, "missing: a level of its own"
    if name in schema.numbers:
        value = float(batch.values[0, schema.numbers.index(name)])
        if code == MISSING:
            return None, "missing: summed out"
        return value, intervals(model.cuts[name])[int(level or 0)]
    if code >= 0:
        return level, ""
    if int(batch.codes[0, schema.categories.index(name)]) == MISSING:
        return None, "missing: summed out"
    return "(unseen)", "unseen: smoothed" if code == UNSEEN and _smooths(model) else "unseen: summed out"


def _smooths(model: NetworkClassifierModel) -> bool:
    """Whether unseen levels are smoothed: only tables of pairs have a slot for them."""
    return model.settings.structure in AVERAGES or model.graph.is_forest
