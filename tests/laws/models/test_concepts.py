"""Candidate elimination, the cube and brute force say the same of small random spaces."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.models.hypotheses.boundaries import (
    ANY,
    NOTHING,
    Concept,
    ConceptCube,
    Row,
    candidate_elimination,
    covers,
    find_s,
)


@dataclass(frozen=True)
class Small:
    n_levels: tuple[int, ...]
    rows: list[Row]
    positive: list[bool]

    def chosen(self, yes: bool) -> list[Row]:
        return [row for row, p in zip(self.rows, self.positive, strict=True) if p == yes]

    def all_concepts(self) -> list[Concept]:
        return [*product(*([*range(k), ANY] for k in self.n_levels)), NOTHING]

    def n_wrong(self, concept: Concept) -> int:
        return sum(covers(concept, row) != yes for row, yes in zip(self.rows, self.positive, strict=True))

    def cube(self, **beliefs: object) -> ConceptCube:
        codes = np.array(self.rows, dtype=np.int64).reshape(len(self.rows), len(self.n_levels))
        return ConceptCube.of(codes, np.array(self.positive, dtype=bool), self.n_levels, **beliefs)  # type: ignore[arg-type]


def at_least_as_general(one: Concept, other: Concept) -> bool:
    """Whether `one` demands nothing that `other` does not."""
    if NOTHING in (one, other):
        return other == NOTHING
    return all(want in (ANY, given) for want, given in zip(one, other, strict=True))


@st.composite
def tables(draw: st.DrawFn, *, noisy: bool | None = None) -> Small:
    n_levels = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    cells = st.tuples(*(st.integers(-1 if draw(st.booleans()) else 0, k - 1) for k in n_levels))
    rows = draw(st.lists(cells, max_size=8))
    if noisy is None:
        noisy = draw(st.booleans())
    if noisy:
        return Small(n_levels, rows, [draw(st.booleans()) for _ in rows])
    truth = tuple(draw(st.sampled_from([*range(k), ANY])) for k in n_levels)
    return Small(n_levels, rows, [covers(truth, row) for row in rows])


@settings(max_examples=600)
@given(tables())
def test_candidate_elimination_finds_the_boundaries_of_the_enumerated_version_space(table: Small) -> None:
    consistent = [h for h in table.all_concepts() if table.n_wrong(h) == 0]
    lowest = {h for h in consistent if not any(g != h and at_least_as_general(h, g) for g in consistent)}
    highest = {h for h in consistent if not any(g != h and at_least_as_general(g, h) for g in consistent)}
    found = candidate_elimination(table.chosen(True), table.chosen(False), table.n_levels)
    assert set(found.specific) == lowest
    assert set(found.general) == highest
    assert (found.specific == ()) == (not consistent)


@settings(max_examples=300)
@given(tables())
def test_the_cube_counts_the_errors_of_every_concept(table: Small) -> None:
    cube = table.cube()
    for cell, n_wrong in enumerate(cube.n_wrong.tolist()):
        assert n_wrong == table.n_wrong(cube.concept(cell))
    assert sorted(cube.consistent()) == sorted(h for h in table.all_concepts() if table.n_wrong(h) == 0)


@settings(max_examples=200)
@given(tables(noisy=False))
def test_a_prior_for_special_concepts_makes_find_s_the_map_hypothesis(table: Small) -> None:
    assert table.cube(prior="specific").map == find_s(table.chosen(True))


@settings(max_examples=200)
@given(tables(), st.sampled_from([0.01, 0.1, 0.3]), st.sampled_from(["uniform", "specific", "general"]))
def test_the_average_over_all_concepts_equals_brute_force(table: Small, noise: float, prior: str) -> None:
    concepts = table.all_concepts()
    slope = {"uniform": 1.0, "specific": 10.0, "general": 0.1}[prior]
    demands = [len(table.n_levels) + 1 if h == NOTHING else sum(v != ANY for v in h) for h in concepts]
    n = len(table.rows)
    weight = np.array(
        [
            slope**k * noise ** table.n_wrong(h) * (1 - noise) ** (n - table.n_wrong(h))
            for h, k in zip(concepts, demands, strict=True)
        ]
    )
    weight /= weight.sum()
    every = list(product(*(range(-1, k) for k in table.n_levels)))
    inside = table.cube(noise=noise, prior=prior).p_covered(np.array(every, dtype=np.int64))
    for row, p in zip(every, inside, strict=True):
        expected = sum(w for w, h in zip(weight, concepts, strict=True) if covers(h, row))
        assert p == pytest.approx(expected, rel=1e-10, abs=1e-13)


@given(tables(noisy=False))
def test_without_noise_and_with_equal_priors_all_consistent_concepts_share_alike(table: Small) -> None:
    cube = table.cube()
    expected = np.where(cube.n_wrong == 0, 1.0 / cube.n_consistent, 0.0)
    assert cube.probability == pytest.approx(expected, rel=1e-12)
