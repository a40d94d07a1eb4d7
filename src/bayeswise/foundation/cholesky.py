"""Cholesky factors by scipy, loaded when the first of them is asked for: a model that is only read needs none."""

from __future__ import annotations

from typing import Any


def cho_factor(matrix: Any, **options: Any) -> Any:
    """The factor of a positive definite matrix, and which triangle it is in; `numpy.linalg.LinAlgError` of any other.

    >>> factor = cho_factor([[4.0, 2.0], [2.0, 5.0]], lower=True)
    >>> cho_solve(factor, [8.0, 12.0]).tolist()
    [1.0, 2.0]
    """
    from scipy import linalg

    return linalg.cho_factor(matrix, **options)


def cho_solve(factor: Any, right: Any, **options: Any) -> Any:
    """The solution of a system whose matrix was factored."""
    from scipy import linalg

    return linalg.cho_solve(factor, right, **options)
