"""Networks too dense for an exact answer: planning ends in an estimate, and Ctrl-C is heard while it goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bayeswise.foundation.errors import TooLargeError
from bayeswise.networks import BeliefNetwork, Node

GRID = """
def grid(side):
    above = [[k for k in (i * side + j - side if i else -1, i * side + j - 1 if j else -1) if k >= 0]
             for i in range(side) for j in range(side)]
    return [2] * side**2, above, [np.full((2 ** len(parents), 2), 0.5) for parents in above]

def plan(side):
    n = side * side
    return _kernels.JunctionTree(_kernels.NetworkTables(*grid(side)), [1] * n, [0] * n, [n - 1], True, False)
"""


def grid(side: int) -> BeliefNetwork:
    nodes = []
    for i in range(side):
        for j in range(side):
            parents = [f"n{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            nodes.append(Node(f"n{i}_{j}", ["no", "yes"], np.full(2 ** len(parents), 0.5), parents))
    return BeliefNetwork(nodes)


def test_a_dense_grid_is_refused_with_an_estimate_and_can_be_sampled() -> None:
    """Each order of 60 x 60 nodes joins about 60 of them: 2^60 cells. Planning stops at 10^12."""
    network = grid(60)
    with pytest.raises(TooLargeError, match=r"at least 1\.\d+e\+12 cells, about .* GB; .*Fix: sample by"):
        network.query("n59_59")
    assert network.estimate("n59_59", n_rows=200).probability["yes"] == pytest.approx(0.5, abs=0.2)


def test_a_plan_that_is_feasible_is_found_in_whatever_order_is_best() -> None:
    assert grid(12).query("n11_11")["yes"] == pytest.approx(0.5, abs=1e-12)


def test_an_interrupt_is_heard_while_planning() -> None:
    """The whole plan takes ten seconds of work and more."""
    program = f"""
import signal, time, numpy as np
from bayeswise import _kernels
{GRID}
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.5)
began = time.process_time()
try: plan(150)
except KeyboardInterrupt: print("interrupted", time.process_time() - began)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    word, seconds = done.stdout.split()
    assert word == "interrupted"
    assert float(seconds) < 5.0


def test_ctrl_c_ends_a_long_kernel() -> None:
    """One block of 4^6 states, drawn again and again."""
    program = """
import signal, numpy as np
from bayeswise import _kernels
signal.signal(signal.SIGINT, signal.default_int_handler)
states = np.stack(np.unravel_index(np.arange(4**6), [4] * 6), axis=1).astype(np.int32)
block = ([0, 1, 2, 3, 4, 5], states, [(np.ones(4**6), [], np.arange(4**6))])
print("ready", flush=True)
_kernels.gibbs([block], np.zeros((1, 6), dtype=np.int32), 0, 0, 0, 10**12, 1, 0, np.zeros((1, 4)), np.zeros((1, 4)))
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in err


def test_evidence_on_other_nodes_is_planned_in_the_order_of_all_nodes() -> None:
    generator = np.random.default_rng(0)
    nodes = []
    for k in range(90):
        above = generator.choice(np.arange(max(0, k - 12), k), min(k, 3), replace=False).tolist() if k else []
        table = generator.dirichlet(np.ones(2), 2 ** len(above))
        nodes.append(Node(f"n{k}", ["x", "y"], table, [f"n{p}" for p in above]))
    network = BeliefNetwork(nodes)
    engine = network.engine
    assert engine._small_tree is None and sorted(engine._order_of_all) == list(range(90))
    cells_of_all = engine._tree_of_all(engine.finding({})).n_cells
    row = network.sample(1, seed=1)
    for _ in range(5):
        evidence = {f"n{k}": row[f"n{k}"][0] for k in generator.choice(90, 6, replace=False)}
        found = network.marginals(evidence)
        assert engine._tree_of_all(engine.finding(evidence)).n_cells <= cells_of_all
        for name in ("n3", "n50", "n89"):
            np.testing.assert_allclose(found[name].probability, network.query(name, evidence).probability, rtol=1e-11)
