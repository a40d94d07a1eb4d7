"""Elementwise logarithms that do not depend on the layout of the array."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeswise import _kernels


def test_the_logarithm_is_that_of_the_standard_library() -> None:
    values = np.random.default_rng(0).lognormal(size=1000)
    assert _kernels.logarithm(values).tolist() == [math.log(x) for x in values]


def test_log_one_minus_is_log1p_of_the_negative() -> None:
    values = np.random.default_rng(1).random(1000)
    assert _kernels.log_one_minus(values).tolist() == [math.log1p(-x) for x in values]


@pytest.mark.parametrize("function", [_kernels.logarithm, _kernels.log_one_minus])
def test_the_layout_of_the_array_does_not_matter(function) -> None:  # type: ignore[no-untyped-def]
    base = np.random.default_rng(2).random((13, 6, 8))
    whole = function(base)
    assert whole.shape == base.shape
    assert (function(np.asfortranarray(base)) == whole).all()
    assert (function(base[::-2, :, 1::3]) == whole[::-2, :, 1::3]).all()
    assert (function(base.transpose(2, 0, 1)) == whole.transpose(2, 0, 1)).all()


def test_the_ends_of_the_range_have_their_limits() -> None:
    assert _kernels.logarithm(np.array([0.0, 1.0, np.inf, 5e-324])).tolist()[:3] == [-np.inf, 0.0, np.inf]
    assert _kernels.log_one_minus(np.array([1.0, 0.0])).tolist() == [-np.inf, 0.0]
    assert np.isnan(_kernels.logarithm(np.array([np.nan, -1.0]))).all()


def test_empty_and_zero_dimensional_arrays_keep_their_shape() -> None:
    assert _kernels.logarithm(np.zeros((0, 3))).shape == (0, 3)
    assert _kernels.logarithm(np.array(1.0)).shape == ()
