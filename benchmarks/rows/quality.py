"""Mean ranks of auto on the reporting tables: `python -m benchmarks.quality` prints every figure behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from bayeswise.evaluation.model_comparison import names_of_classifiers
from benchmarks.harness import Outcome, Row, Size
from benchmarks.quality.__main__ import TUNED, Scores, excess, lines_of, ranked, run
from benchmarks.quality.development import rings
from benchmarks.quality.measures import MEASURES
from benchmarks.quality.methods import PEERS
from benchmarks.quality.noise import covered
from benchmarks.quality.reporting import REPORTING

BY_NAME = True
SMALL = 0.1  # below this share of the full size, one table and two folds


@dataclass(frozen=True)
class MeanRank:
    """The mean rank of auto beside that of the best of scikit-learn's and of its own members."""

    what: str
    measure: str

    def run(self, size: Size) -> Outcome:
        scores = _scores(size.scale)
        ranks, _ = ranked(scores, self.measure)
        others = [rank for name, rank in ranks.items() if not name.startswith("auto")]
        return Outcome(self.what, ranks["auto"], min(others), "", None, "first", ranks["auto"] <= min(others))


@dataclass(frozen=True)
class WorstExcess:
    """The log-loss of auto as a share of that of its best single member, on the table where it is largest."""

    what: str

    def run(self, size: Size) -> Outcome:
        worst = max(chosen for chosen, _ in excess(_scores(size.scale)).values())
        return Outcome(self.what, 100.0 * worst, None, "%", None, "<= 105 %", worst <= 1.05)


@dataclass(frozen=True)
class LeastCoverage:
    """How often 95 % intervals of cross-validation contain the error of chance on noise, for the worst model."""

    what: str

    def run(self, size: Size) -> Outcome:
        small = size.scale < SMALL
        models = ["naive-bayes", "tan"] if small else names_of_classifiers()
        n_seeds = 2 if small else max(1, round(200 * size.scale))
        least = min(found.share for found in covered(models, n_seeds))
        allowed = 0.95 - 3.0 * (0.95 * 0.05 / n_seeds) ** 0.5  # what 95 % are, up to chance
        return Outcome(self.what, 100.0 * least, None, "%", None, f">= {100.0 * allowed:.0f} %", least >= allowed)


@cache
def _scores(scale: float) -> Scores:
    small = scale < SMALL
    tables = {"rings": lambda: rings(100, 1)} if small else REPORTING
    tell: Callable[[str], None] = (lambda text: None) if small else (lambda text: print(text, flush=True))
    peers = () if small else (*PEERS, TUNED)
    scores = run(tables, n_folds=2 if small else 5, n_seeds=max(1, round(3 * scale)), names_of_peers=peers, tell=tell)
    for line in lines_of(scores):
        tell(line)
    return scores


def rows(size: Size) -> Iterator[Row]:
    for measure in MEASURES:
        yield MeanRank(f"quality: mean rank of auto in {measure} beside the best other", measure)
    yield WorstExcess("quality: log-loss of auto in shares of the best single model, at worst")
    yield LeastCoverage("noise: 95 % intervals of cross-validation that contain the error of chance, worst model")
