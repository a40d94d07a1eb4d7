"""Gibbs sampling: nodes drawn in turn given all others, in many chains whose spread gives the standard error.

Zeros in tables can trap a chain in a part of the states. So nodes that share a table with a zero are drawn together, as
one block: then every possible state can be reached from every other. Where such a block has too many states, sampling
is refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.directed_graph import connected
from bayeswise.foundation.errors import ParameterError, TooFewRowsError, TooLargeError, listed
from bayeswise.foundation.threads import available, each
from bayeswise.networks.inference.engine import Finding
from bayeswise.networks.inference.estimate import Estimate
from bayeswise.networks.inference.propagation import factors_of
from bayeswise.networks.inference.sampling import adapted_proposal, weighted
from bayeswise.networks.node import Evidence, Soft

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

N_CHAINS = 64
MOST_CONFIGURATIONS = 4096
_BURN_SHARE = 0.2
_AGREED = 1.05  # r_hat above this is noted
_WORK_OF_A_TURN = 1e8  # products: a fraction of a second
_STARTS = 20_000  # rows among which the chains' first states are drawn

Factor = tuple[FloatArray, list[tuple[int, int]], Any]


@dataclass(frozen=True)
class Scope:
    """The cells of a table or a likelihood, and the stride of each of its nodes."""

    cells: FloatArray  # (n_cells,) flat
    strides: dict[int, int]


def gibbs(
    network: BeliefNetwork, node: str, evidence: Evidence | None, soft: Soft | None, n_rows: int, seed: int
) -> Estimate:
    """P(node | evidence) as the mean of P(node | all others) over `n_rows` sweeps of 64 chains together.

    The standard error is that of the mean of the chains' means; `r_hat` near 1 means that the chains agree.
    """
    target = network.place(node)
    finding = network.engine.finding(evidence, soft)
    if target in finding.states:
        raise ParameterError(f"node {node!r} is observed", fix="choose another node")
    if n_rows < 10 * N_CHAINS:
        raise ParameterError(
            f"n_rows is {n_rows}", fix=f"choose {10 * N_CHAINS} or more, 10 for each of {N_CHAINS} chains"
        )
    scopes = _scopes(network, finding)
    blocks = _blocks(network, finding, scopes)
    chains = _first_states(network, finding, seed)
    place = next(k for k, block in enumerate(blocks) if target in block)
    sums, squares = _run(network, blocks, scopes, chains, (place, target), -(-n_rows // N_CHAINS), seed)
    return _estimate(network, target, sums, squares, -(-n_rows // N_CHAINS))


# -- blocks -----------------------------------------------------------------------------------------------------


def _scopes(network: BeliefNetwork, found: Finding) -> list[Scope]:
    """Every table reduced by the evidence, and every likelihood."""
    return [_scope(factor.cells, factor.nodes) for factor in factors_of(network, found)]


def _scope(cells: FloatArray, nodes: Sequence[int]) -> Scope:
    strides, step = {}, 1
    for node, size in zip(reversed(nodes), reversed(cells.shape), strict=True):
        strides[node] = step
        step *= size
    return Scope(cells.ravel(), strides)


def _blocks(network: BeliefNetwork, found: Finding, scopes: list[Scope]) -> list[list[int]]:
    """The nodes that are drawn together: those that share a table with a zero."""
    tied = [list(scope.strides) for scope in scopes if scope.strides and (scope.cells == 0.0).any()]
    drawn = (node for node in range(len(network)) if node not in found.states)
    blocks = connected(drawn, ((first, other) for first, *others in tied for other in others))
    for members in blocks:
        n_configurations = math.prod(len(network._states[node]) for node in members)
        if len(members) > 1 and n_configurations > MOST_CONFIGURATIONS:
            shown = listed((network.names[node] for node in members), 6)
            raise TooLargeError(
                f"zeros in tables tie {len(members)} nodes together ({shown}): "
                f"they have {n_configurations:.3g} states, and {MOST_CONFIGURATIONS} are drawn at once; one by one "
                "they would be trapped",
                fix="sample by method='importance', or give the zeros a small probability",
            )
    return blocks


def _parts(network: BeliefNetwork, blocks: list[list[int]], scopes: list[Scope]) -> Iterator[tuple[Any, Any, Any]]:
    """The arguments of the kernel for each block: nodes, configurations, factors."""
    by_node: dict[int, list[int]] = {}
    for k, scope in enumerate(scopes):
        for node in scope.strides:
            by_node.setdefault(node, []).append(k)
    for block in blocks:
        sizes = [len(network._states[node]) for node in block]
        configurations = np.ascontiguousarray(np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1).T)
        factors: list[Factor] = []
        for k in sorted({k for node in block for k in by_node.get(node, ())}):
            strides = scopes[k].strides
            inside = np.array([strides.get(node, 0) for node in block], dtype=np.int64)
            outside = [(node, stride) for node, stride in strides.items() if node not in block]
            factors.append((scopes[k].cells, outside, np.ascontiguousarray(configurations @ inside)))
        yield block, configurations, factors


# -- chains -----------------------------------------------------------------------------------------------------


def _first_states(network: BeliefNetwork, finding: Finding, seed: int) -> CodeArray:
    """(n_chains, n_nodes) states consistent with the evidence, resampled by weight from many."""
    generator = np.random.default_rng(seed)
    codes, log_weight = weighted(network, _STARTS, finding, generator, proposal=adapted_proposal(network, finding))
    if np.isneginf(log_weight).all():
        raise TooFewRowsError(
            f"none of {_STARTS} sampled rows agrees with the evidence, so that no chain can begin",
            fix="remove rare evidence, or give the zeros of the tables a small probability",
        )
    weight = np.exp(log_weight - log_weight.max())
    return np.ascontiguousarray(codes[generator.choice(_STARTS, N_CHAINS, p=weight / weight.sum())])


def _run(
    network: BeliefNetwork,
    blocks: list[list[int]],
    scopes: list[Scope],
    chains: CodeArray,
    target: tuple[int, int],
    n_sweeps: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """(n_chains, n_states) sums and sums of squares of P(target | all others)."""
    parts = list(_parts(network, blocks, scopes))
    n_states = len(network._states[target[1]])
    sums, squares = np.zeros((N_CHAINS, n_states)), np.zeros((N_CHAINS, n_states))
    place = blocks[target[0]].index(target[1])
    n_burn = max(10, round(_BURN_SHARE * n_sweeps))
    work = N_CHAINS * sum(len(configurations) * (1 + len(factors)) for _, configurations, factors in parts)
    cuts = np.linspace(0, N_CHAINS, min(N_CHAINS, available()) + 1).astype(int).tolist()
    ranges = [slice(a, b) for a, b in itertools.pairwise(cuts) if a < b]
    for turn, (burn, counted) in enumerate(_turns(n_burn, n_sweeps, max(1, int(_WORK_OF_A_TURN // work)))):

        def run(part: slice, turn: int = turn, burn: int = burn, counted: int = counted) -> None:
            stream = (seed * 1_000_003 + turn) & 0xFFFF_FFFF_FFFF_FFFF
            outputs = sums[part], squares[part]
            _kernels.gibbs(parts, chains[part], target[0], place, burn, counted, stream, part.start, *outputs)

        each(run, ranges)
    return sums, squares


def _turns(n_burn: int, n_sweeps: int, at_once: int) -> Iterator[tuple[int, int]]:
    """(burn-in sweeps, counted sweeps) of each turn, short enough for an interrupt to be handled between them.

    >>> list(_turns(3, 5, at_once=4))
    [(3, 0), (0, 4), (0, 1)]
    """
    for burn in range(0, n_burn, at_once):
        yield min(at_once, n_burn - burn), 0
    for counted in range(0, n_sweeps, at_once):
        yield 0, min(at_once, n_sweeps - counted)


def _estimate(network: BeliefNetwork, target: int, sums: FloatArray, squares: FloatArray, n_sweeps: int) -> Estimate:
    means = sums / n_sweeps  # (n_chains, n_states)
    p = means.mean(axis=0)
    error = means.std(axis=0, ddof=1) / math.sqrt(N_CHAINS)
    within = np.maximum(0.0, squares / n_sweeps - means**2).mean(axis=0)
    between = means.var(axis=0, ddof=1)
    known = within > 0.0
    r_hat = np.sqrt(1.0 + between[known] / within[known]).max() if known.any() else 1.0
    spread = float((error**2).sum())
    n_drawn = float(n_sweeps * N_CHAINS)  # the effective sample size is at most this
    return Estimate.of(
        network.names[target],
        network._states[target].labels,
        p / p.sum(),
        error,
        method="gibbs",
        effective_rows=min(n_drawn, float((p * (1.0 - p)).sum()) / spread) if spread > 0.0 else n_drawn,
        r_hat=float(r_hat),
        notes=(f"r_hat {r_hat:.2f}: the chains do not agree yet",) if r_hat > _AGREED else (),
    )
