"""Schema inference by partitions: profiles merge, so any partitioning gives the profile of the whole table."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.profile import empty_profiler, profile
from bayeswise.tables.source import open_source

CELLS = st.one_of(
    st.none(),
    st.sampled_from(["a", "b", "0007", "12", "3.5", "2020-01-01", "some words here", "inf"]),
    st.integers(-3, 3),
    st.sampled_from([0.0, -0.0, 1.5, 1e300, float("inf")]),
    st.booleans(),
)


def _profiled(cells: list[object], edges: list[int]) -> object:
    """The result of profilers of parts, absorbed one by one."""
    merged = empty_profiler(1)
    for first, last in zip([0, *edges], [*edges, len(cells)], strict=True):
        part = empty_profiler(1)
        if cells[first:last]:
            for chunk in open_source({"x": cells[first:last]}).chunks(["x"]):
                chunk.profile("x", part)
        merged.absorb(part.state())
    return {name: value for name, value in merged.result(1000).items() if name != "invalid_examples"}


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_a_column_in_parts_has_the_profile_of_the_whole(cells: list[object], cuts: list[int]) -> None:
    edges = sorted(min(cut, len(cells)) for cut in cuts)
    assert repr(_profiled(cells, edges)) == repr(_profiled(cells, []))


@pytest.mark.parametrize("n_values", [3_000, 70_000, 1_200_000])
def test_estimates_of_many_values_are_those_of_the_whole(n_values: int) -> None:
    values = np.random.default_rng(1).permutation(n_values)
    whole, merged = empty_profiler(4), empty_profiler(4)
    _show(whole, values)
    for part in np.array_split(values, 3):
        one = empty_profiler(4)
        _show(one, part)
        merged.absorb(one.state())
    assert merged.result(10) == whole.result(10)
    assert merged.state() == whole.state() or n_values < 70_000  # levels are kept in the order of their first cell


def _show(profiler: object, values: np.ndarray) -> None:
    for chunk in open_source({"x": values}).chunks(["x"]):
        chunk.profile("x", profiler)  # type: ignore[arg-type]


def test_bytes_that_no_profiler_wrote_are_refused() -> None:
    state = empty_profiler(1).state()
    for damaged in (state[:-1], state + b"\0", b"", b"\xff" * len(state)):
        with pytest.raises(ValueError, match="the state of a profiler"):
            empty_profiler(1).absorb(damaged)


def _odd_columns(n: int) -> pd.DataFrame:
    generator = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "row": generator.permutation(n),  # plain in each partition, a row number in all of them together
            "constant": np.ones(n),
            "zero_or_one": generator.integers(0, 2, n),
            "share": np.where(np.arange(n) < n - 1, generator.integers(0, 2, n), 0.5),
            "sorted": np.arange(n) // 100 * 1.0,  # constant in a partition, and a number
            "wide": np.where(np.arange(n) == n - 1, 2**60, generator.integers(0, 50, n)),
            "code": generator.choice(["007", "012"], n),
            "when": "2020-01-0" + pd.Series(generator.integers(1, 9, n)).astype(str),
            "note": [f"some words {k} of a text" for k in range(n)],
            "empty": np.full(n, np.nan),
            "flag": generator.random(n) < 0.5,
            "mixed": [("a", "b", 1, None)[k % 4] for k in range(n)],
            "y": generator.choice(["p", "q"], n),
        }
    )


@pytest.mark.parametrize("n_partitions", [1, 3, 16])
def test_a_spread_table_has_the_schema_of_the_whole(n_partitions: int) -> None:
    frame = _odd_columns(1_600)
    with dask.config.set({"dataframe.convert-string": False}):
        spread = open_source(dd.from_pandas(frame, npartitions=n_partitions, sort=False))
        assert infer_schema(spread, "y") == infer_schema(open_source(frame), "y")
        assert spread.passes.count("profile") <= 2
        found, expected = profile(spread), profile(open_source(frame))
    for name, column in expected.items():
        ours = {**vars(found[name]), "invalid_examples": ()}
        assert repr(ours) == repr({**vars(column), "invalid_examples": ()})


def test_one_pass_is_enough_for_ordinary_columns() -> None:
    frame = _odd_columns(800)[["sorted", "constant", "zero_or_one", "share", "flag", "code", "y"]]
    spread = open_source(dd.from_pandas(frame, npartitions=4, sort=False))
    assert infer_schema(spread, "y") == infer_schema(open_source(frame), "y")
    assert spread.passes == ["profile"]
