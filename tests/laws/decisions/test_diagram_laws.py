"""What holds for every diagram: information never hurts, sums add up, units and order do not matter."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.diagrams import InfluenceDiagram, Utility
from bayeswise.diagrams.documents import from_document, to_document
from bayeswise.diagrams.files import toml_text
from bayeswise.foundation.errors import ParameterError
from tests.cases.diagram_cases import best_by_enumeration, oil, random_diagram

few = settings(max_examples=40)
diagrams = st.builds(
    random_diagram,
    seed=st.integers(0, 10_000),
    n_nodes=st.integers(3, 7),
    n_decisions=st.integers(1, 3),
    most_states=st.integers(2, 3),
    zeros=st.sampled_from([0.0, 0.3]),
)
CLOSE = 1e-11


@few
@given(st.integers(0, 10_000), st.integers(3, 4), st.integers(1, 2), st.sampled_from([0.0, 0.3]))
def test_no_policy_of_all_of_them_gains_more(seed: int, n_nodes: int, n_decisions: int, zeros: float) -> None:
    diagram = random_diagram(seed, n_nodes, n_decisions, zeros=zeros)
    assert diagram.solve().utility == pytest.approx(float(best_by_enumeration(diagram)), abs=CLOSE)


@few
@given(diagrams)
def test_scenarios_and_risks_add_up_to_the_expected_utility(diagram: InfluenceDiagram) -> None:
    solution = diagram.solve()
    paths = solution.scenarios()
    assert paths.probability.sum() == pytest.approx(1.0, abs=CLOSE)
    assert paths.expected_utility == pytest.approx(solution.utility, abs=CLOSE)
    profile = solution.risk()
    assert profile.probability.sum() == pytest.approx(1.0, abs=CLOSE)
    assert profile.mean == pytest.approx(solution.utility, abs=CLOSE)
    assert profile.below(1e9) == pytest.approx(1.0, abs=CLOSE)
    fewer = solution.scenarios(diagram.decisions)
    assert fewer.expected_utility == pytest.approx(solution.utility, abs=CLOSE)


@few
@given(diagrams)
def test_information_is_never_worth_less_than_nothing_nor_more_than_all_of_it(
    diagram: InfluenceDiagram,
) -> None:
    decision = diagram.decisions[-1]
    perfect = diagram.perfect_information(decision).value
    for each in diagram.information_values(decision, prices=dict.fromkeys(diagram.chances, 0.25)).values:
        assert 0.0 <= each.value <= perfect + CLOSE
        assert each.net == pytest.approx(each.value - 0.25)


@few
@given(diagrams)
def test_following_the_best_policies_leaves_no_regret_and_others_some(diagram: InfluenceDiagram) -> None:
    solution = diagram.solve()
    assert diagram.evaluate(solution.policies).utility == pytest.approx(solution.utility, abs=CLOSE)
    assert diagram.regret(solution.policies) == pytest.approx(0.0, abs=CLOSE)
    for option in diagram.states(diagram.decisions[0]):
        assert diagram.solve(policies={diagram.decisions[0]: option}).utility <= solution.utility + CLOSE
    coin = {d: np.full(len(diagram.states(d)), 1 / len(diagram.states(d))).tolist() for d in diagram.decisions}
    assert diagram.evaluate(coin).utility <= solution.utility + CLOSE


@few
@given(diagrams, st.floats(-100, 100), st.floats(0.01, 100))
def test_utilities_have_no_zero_and_no_unit(diagram: InfluenceDiagram, shift: float, scale: float) -> None:
    other = diagram.changed(
        [Utility(n, diagram.utility(n) * scale, diagram.parents(n)) for n in diagram.utilities]
        + [Utility("shift", shift)]
    )
    assert other.solve().utility == pytest.approx(diagram.solve().utility * scale + shift, abs=1e-9, rel=1e-10)


@few
@given(diagrams, st.randoms(use_true_random=False))
def test_the_order_in_which_nodes_are_given_does_not_matter(diagram: InfluenceDiagram, chance: object) -> None:
    pieces = diagram.pieces()
    chance.shuffle(pieces)  # type: ignore[attr-defined]
    other = InfluenceDiagram(pieces)
    assert other == diagram
    assert other.solve().utility == pytest.approx(diagram.solve().utility, abs=CLOSE)


@few
@given(diagrams, st.integers(0, 10_000))
def test_the_utility_over_one_entry_is_convex_and_that_of_the_changed_diagram(
    diagram: InfluenceDiagram, seed: int
) -> None:
    from bayeswise.diagrams.analysis.entries import entries

    generator = np.random.default_rng(seed)
    every = list(entries(diagram))
    entry = every[int(generator.integers(len(every)))]
    low, high = (-5.0, 5.0) if entry.is_utility else (0.0, 1.0)
    found = diagram.sensitivity(entry.node, entry.state, given=dict(entry.given), low=low, high=high)
    for value in [low, high, *found.thresholds, *generator.uniform(low, high, 4)]:
        changed = entry.changed(diagram, float(value)).solve().utility
        assert found.utility_at(float(value)) == pytest.approx(changed, abs=1e-10)
        assert found.kept_at(float(value)) <= changed + 1e-10
    slopes = [piece.line.slope for piece in found.pieces]
    assert slopes == sorted(slopes)
    if low <= entry.value <= high:
        assert found.kept_at(entry.value) == pytest.approx(diagram.solve().utility, abs=1e-10)


@few
@given(diagrams)
def test_every_bar_of_a_tornado_is_the_utility_at_its_ends(diagram: InfluenceDiagram) -> None:
    found = diagram.tornado(0.3)
    widths = [bar.width for bar in found.bars]
    assert widths == sorted(widths, reverse=True)
    for bar in found.bars[:3]:
        assert bar.utility_low == pytest.approx(bar.entry.changed(diagram, bar.low).solve().utility, abs=1e-10)
        assert bar.utility_high >= bar.kept_high - 1e-10


@few
@given(diagrams)
def test_a_document_reads_back_as_the_same_diagram(diagram: InfluenceDiagram) -> None:
    assert from_document(to_document(diagram)) == diagram


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
plain = st.one_of(texts, st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
trees = st.recursive(plain | st.lists(plain, max_size=3), lambda inner: st.dictionaries(texts, inner, max_size=3))


@settings(max_examples=150)
@given(st.dictionaries(texts, trees, max_size=3))
def test_toml_is_read_back_by_the_reader_of_python(table: dict[str, object]) -> None:
    document = {"name": "x", "chance": {"node": {**table, "table": 1}}}
    found = tomllib.loads(toml_text(document))
    kept = {key: value for key, value in document["chance"]["node"].items() if value != []}  # type: ignore[index]
    assert found["chance"]["node"] == kept


@few
@given(diagrams)
def test_evidence_that_is_averaged_is_the_value_of_knowing_it_first(diagram: InfluenceDiagram) -> None:
    """sum_x P(x) MEU(x) = MEU if x is known before the first decision, which is how a look is priced."""
    first = diagram.decisions[0]
    for node in diagram.chances:
        try:
            informed = diagram.value_of_information(node, first).utility
        except ParameterError:
            continue  # it follows from the decision
        if any(not diagram.network.d_separated(d, node) for d in diagram.decisions):
            continue
        total = 0.0
        for state, p in diagram.network.query(node).items():
            total += p * diagram.solve({node: state}).utility if p > 0.0 else 0.0
        assert total == pytest.approx(informed, abs=CLOSE)


def test_the_first_option_wins_a_tie() -> None:
    level = oil().changed([Utility("gain", 0)])
    assert level.solve().in_words() == ["test: no", "drill: yes (every option is as good)"]
    even = oil().changed([Utility("gain", [[0, 0, 0], [0, 0, -1]], ["drill", "oil"])])
    assert even.solve({"test": "yes", "report": "open", "oil": "dry"}).policy("drill").option() == "yes"
