"""Hot loops of bayeswise, in C++; each releases the GIL and works on the rows it is given, on one thread."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray

# ---- Instruction sets

def isa() -> str:
    """The instruction set in use: plain, avx2 or avx512.

    A BAYESWISE_ISA that cannot run here is a ParameterError here, and in every kernel that has copies.
    """

def available_isas() -> list[str]:
    """Those that can run here, the best of them last."""

def use_isa(name: str) -> None:
    """Use another one from now on, for tests and benchmarks; not while another thread is inside a kernel."""

# ---- Exact sums

ExactDigits: TypeAlias = tuple[IntArray, int]
SpelledNumbers: TypeAlias = tuple[list[tuple[int, str]], int]  # invalid cells as (row, text), and how texts are written
"""(digits, low): entry = sum_k digits[..., k] * 2**(32 * (low + k)).

All digits but the top one lie in [0, 2**32), the top one in [-2**31, 2**31). They are trimmed, so
that equal sums have equal digits.
"""

SingleArray: TypeAlias = npt.NDArray[np.float32]
Values: TypeAlias = FloatArray | SingleArray
"""Any strides of whole elements, in native byte order, read-only or not; anything else is a TypeError."""

Places: TypeAlias = CodeArray | IntArray
Codes: TypeAlias = npt.NDArray[np.int8] | npt.NDArray[np.uint8] | npt.NDArray[np.int16] | Places
ShortCodes: TypeAlias = CodeArray | npt.NDArray[np.int8]
UnsignedCodes: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Integers: TypeAlias = npt.NDArray[np.signedinteger] | npt.NDArray[np.uint8]
Groups: TypeAlias = CodeArray | None
"""The group of each row; a negative one leaves the row out; None puts all rows into group 0."""

Weights: TypeAlias = FloatArray
"""Finite and not negative (the caller has checked); a weight of 0 leaves the row out."""

class InfiniteValueError(ValueError):
    """An infinite value; the message is "ROW COLUMN", the first in row order, counted from zero."""

class CodeError(ValueError):
    """A code outside -1 .. size - 1; the message is "ROW COLUMN" as for InfiniteValueError."""

def moments(
    values: Values, groups: Groups, n_groups: int, weights: Weights | None = None
) -> tuple[ExactDigits, ExactDigits, ExactDigits]:
    """Exact sums of w, w x and w x^2, each (n_groups, n_columns); a NaN adds to none of them."""

def buckets(
    values: Values, groups: Groups, n_groups: int, weights: Weights | None = None
) -> tuple[CodeArray, IntArray | ExactDigits]:
    """Keys 2^15 column + 2^14 + bucket of the buckets that have cells, in order, and how many cells (or which weight).

    A bucket is what sign, exponent and three bits of mantissa have in common; negative numbers have negative buckets.
    """

def scatter(
    values: Values, groups: Groups, n_groups: int, weights: Weights | None = None
) -> tuple[ExactDigits, ExactDigits, ExactDigits, ExactDigits]:
    """Exact sums over rows without NaN: w (K,), w x (K, d) and w x_i x_j (K, d (d + 1) / 2).

    The third is packed as the lower triangle, row by row; the fourth is the weight (K,) of rows with a NaN.
    """

def canonical(limbs: IntArray, low: int) -> ExactDigits:
    """Limbs (n_entries, n_limbs) of any size, with carries moved up and without limbs that no entry needs."""

def exact_means(high: FloatArray, low: FloatArray, total: IntArray, total_low: int, counts: IntArray) -> bool:
    """high + low = total / count of each entry, both rounded once; 0 where the count is 0.

    The digits are (n_groups, n_columns, n_limbs) as of ExactDigits. False if a count is negative or from 2**31 on, or a
    mean is beyond the range of floats: the answers are then not to be used.
    """

def exact_spreads(
    out: FloatArray,
    total: IntArray,
    total_low: int,
    squares: IntArray,
    squares_low: int,
    counts: IntArray,
    less: int,
    root: bool,
) -> bool:
    """(n sum x^2 - (sum x)^2) / (n (n - less)), or its root, rounded once; 0 where n <= less.

    False if a count is negative or from 2**31 on, or a sum of squares or a spread is negative.
    """

def exact_scatters(
    out: FloatArray,
    total: IntArray,
    total_low: int,
    cross: IntArray,
    cross_low: int,
    counts: IntArray,
    exponents: IntArray,
) -> bool:
    """(n sum x_i x_j - sum x_i sum x_j) / (n 2^(e_i + e_j)), rounded once; 0 where n is 0.

    The products are a lower triangle, row by row; counts are (n_groups, 1). False if one is negative or from 2**31 on.
    """

@overload
def counts(codes: Codes, sizes: IntArray, groups: Groups, n_groups: int, weights: None = None) -> IntArray: ...
@overload
def counts(codes: Codes, sizes: IntArray, groups: Groups, n_groups: int, weights: Weights) -> ExactDigits:
    """How often each code occurs: (n_groups, sum(sizes + 1)).

    Column c has sizes[c] slots in the order of the codes, then one for missing (code -1).
    """

@overload
def joint_counts(codes: Codes, sizes: IntArray, weights: None = None) -> tuple[IntArray, int]: ...
@overload
def joint_counts(codes: Codes, sizes: IntArray, weights: Weights) -> tuple[ExactDigits, ExactDigits]:
    """How often each combination of codes occurs: (prod(sizes),) in C order.

    The second is the weight of the rows left out because a code is missing, an integer or of shape ().
    """

def add_exact(left: IntArray, left_low: int, right: IntArray, right_low: int, subtract: bool) -> ExactDigits:
    """Canonical digits of the sum or the difference of canonical digits, (n_entries, n_limbs)."""

def accumulate(values: FloatArray) -> ExactDigits:
    """Exact sums of columns, (n_columns,); a NaN is left out."""

def logarithm(values: FloatArray) -> FloatArray:
    """log(x) of each element, by one scalar function: the array's layout cannot change the result."""

def log_one_minus(values: FloatArray) -> FloatArray:
    """log(1 - x) of each element, as accurate as log1p."""

# -- likelihood.cpp: log-likelihoods of rows under every state, added to log_joint (n_rows, n_states) --------------

def add_normal(
    log_joint: FloatArray,
    values: Values,
    mean: FloatArray,
    mean_low: FloatArray,
    precision: FloatArray,
    log_peak: FloatArray,
) -> None: ...
def add_table(log_joint: FloatArray, codes: ShortCodes, sizes: IntArray, table: FloatArray) -> None: ...
def add_levels(
    log_joint: FloatArray,
    codes: ShortCodes,
    sizes: IntArray,
    bases: FloatArray,
    base_of: IntArray,
    starts: IntArray,
    states: CodeArray,
    values: FloatArray,
) -> None: ...
def add_sparse(
    log_joint: FloatArray, starts: Places, words: Places, counts: FloatArray, log_weight: FloatArray
) -> None: ...
def squared_distances(
    out: FloatArray,
    values: Values,
    mean: FloatArray,
    mean_low: FloatArray,
    inverse_scale: FloatArray,
    whiteners: FloatArray,
) -> None: ...
def linear_scores(
    out: FloatArray, values: Values, centre: FloatArray, weights: FloatArray, constants: FloatArray
) -> None: ...
def normalise_rows(out: FloatArray, log_joint: FloatArray, share: FloatArray, log_evidence: FloatArray) -> int: ...

# -- pool.cpp: what is believed of the rows of a pool, kept up to date label by label ---------------------------------

def normal_column(
    log_likelihood: FloatArray,
    columns: FloatArray,
    mean: FloatArray,
    mean_low: FloatArray,
    precision: FloatArray,
    log_peak: FloatArray,
) -> None:
    """log_likelihood (n_rows,) of one state, from columns (n_columns, n_rows); missing cells add nothing."""

def uncertainty(
    score: FloatArray, log_states: FloatArray, log_prior: FloatArray, is_open: BoolArray, kind: int
) -> None:
    """score (n_rows,): entropy in bits (0), 1 - lead (1) or 1 - largest (2) of each posterior, NaN where it is 0/0.

    3 is minus the log odds of the two most probable states. log_states is (n_states, n_rows). A row that is
    not open has the score minus infinity.
    """

def moments_of_rows(moments: FloatArray, values: FloatArray) -> None:
    """moments (4, n_columns): count, mean, mean_low and stddev of the present cells of values (n_rows, n_columns)."""

# -- screen.cpp: which rows of a pool may be the most uncertain, in single precision ---------------------------------

def rough_normal(
    log_likelihood: SingleArray, columns: SingleArray, mean: FloatArray, rate: FloatArray, log_peak: FloatArray
) -> None:
    """log_likelihood (n_rows,) = sum of log_peak - ((x - mean) rate)^2 over the present cells of columns."""

def upper_log_odds(
    upper: SingleArray, log_states: SingleArray, log_prior: FloatArray, is_open: BoolArray, error: float
) -> None:
    """upper (n_rows,) = second - top + error (|second| + |top|) of each row's log joints; inf where that is NaN.

    A row that is not open has the bound minus infinity.
    """

# ---- Tables

Cell: TypeAlias = str | int | float | bool | None
Settle: TypeAlias = Callable[[object], Cell]
"""Turns a cell of any other type into one of these."""

class TextRules:
    """How text cells are read: the words for missing and the decimal mark."""

    def __init__(self, null_words: Sequence[str], decimal_mark: str = ".") -> None: ...

class Levels:
    """A dictionary of values that only grows."""

    def __init__(self, declared: list[Any], settle: Settle) -> None: ...
    def __len__(self) -> int: ...
    def since(self, start: int) -> list[str | int | float | bool]:
        """The labels from this code on."""

class Profiler:
    """Counts what the cells of one column look like."""

    def __init__(self, exact_distinct: int, counted_levels: int, counted_bytes: int) -> None: ...
    def result(self, most: int) -> dict[str, Any]: ...
    def state(self) -> bytes:
        """All that was counted, as bytes."""
    def absorb(self, state: bytes) -> None:
        """Count all that another profiler with the same limits has counted."""

class Column:
    """One column of some rows."""

    @property
    def n_rows(self) -> int: ...
    def numbers(self, rules: TextRules, out: FloatArray) -> list[tuple[int, str]]:
        """Fill doubles; return the invalid cells as (row, text)."""
    def spelled_numbers(self, rules: TextRules, out: FloatArray) -> SpelledNumbers:
        """The same, and how texts are written: 1 leading zeros, 2 integers beyond 2^53, 4 other than integers."""
    def labels(self, rules: TextRules, levels: Levels, out: CodeArray) -> None:
        """Fill codes into the growing levels."""
    def profile(self, rules: TextRules, profiler: Profiler, first_row: int) -> None: ...
    def texts(self, rules: TextRules) -> list[Cell]:
        """The values, None for missing."""
    def kinds(self) -> dict[str, int]:
        """How many cells of each kind there are."""
    def line(self, row: int) -> int | None:
        """The line of a row in its text file."""

def object_column(cells: list[Any] | tuple[Any, ...], settle: Settle) -> Column: ...
def number_column(array: npt.NDArray[Any], mask: BoolArray | None = None) -> Column: ...
def coded_column(codes: npt.NDArray[Any], values: list[Any], settle: Settle) -> Column: ...

class CsvBlock:
    """The whole records of one block of text."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def next_line(self) -> int: ...
    @property
    def flaw(self) -> str: ...
    @property
    def flaw_line(self) -> int: ...
    @property
    def flaw_fields(self) -> int: ...
    @staticmethod
    def split(
        carried: bytes,
        fresh: bytes,
        delimiter: str,
        quote: str,
        skip_space: bool,
        n_columns: int,
        first_line: int,
        last: bool,
        most_rows: int,
    ) -> CsvBlock: ...
    def rest(self) -> bytes:
        """The bytes after the last whole record."""
    def column(self, index: int, begin: int, n_rows: int) -> Column: ...
    def numbers(self, indices: list[int], begin: int, rules: TextRules, out: FloatArray) -> list[SpelledNumbers]:
        """Fill (n_rows, n_columns) doubles; for each column what spelled_numbers returns."""

class ArrowBatch:
    """Some rows of an Arrow stream."""

    @property
    def n_rows(self) -> int: ...
    def column(self, index: int, begin: int, n_rows: int) -> Column: ...
    def numbers(self, indices: list[int], begin: int, rules: TextRules, out: FloatArray) -> list[SpelledNumbers]:
        """Fill (n_rows, n_columns) doubles; for each column what spelled_numbers returns."""
    def matrix(self, indices: list[int], begin: int, n_rows: int) -> FloatArray | None:
        """Columns of doubles as (n_rows, n_columns) without a copy, or None where they do not lie so."""
    def declared(self, index: int) -> list[Cell]: ...

class ArrowStream:
    """A stream of the Arrow C data interface, from its capsule."""

    def __init__(self, capsule: object) -> None: ...
    def fields(self) -> list[tuple[str, str, bool, bool]]:
        """(name, storage, is dictionary, is ordered) of each column."""
    def next(self) -> ArrowBatch | None:
        """The next batch, or None at the end."""
    def close(self) -> None: ...

class ParquetFooter:
    """What a Parquet file says of itself; RuntimeError if it is damaged."""

    def __init__(self, data: bytes) -> None: ...
    def columns(self) -> list[tuple[str, str]]:
        """(name, storage) of each column."""
    @property
    def n_rows(self) -> int: ...
    @property
    def n_groups(self) -> int: ...
    @property
    def row_bytes(self) -> int:
        """Bytes of a row of decoded cells, at least."""
    @property
    def has_known_types(self) -> bool:
        """Whether all columns are flat ones of numbers, truth values, texts, dates or times."""
    @property
    def is_decodable(self) -> bool:
        """Whether a ParquetReader knows how they are stored."""

class ParquetReader:
    """Some columns of a Parquet file, a batch of rows at a time."""

    def __init__(self, footer: ParquetFooter, descriptor: int, columns: list[int], batch_rows: int) -> None: ...
    def next(self) -> ArrowBatch | None:
        """The next rows, or None at the end; RuntimeError if they are damaged."""

# -- words.cpp: word counts of texts, by class ----------------------------------------------------------------------

def add_word_counts(table: IntArray, starts: Places, words: Places, cells: FloatArray, groups: Groups) -> bool: ...
def add_cell_counts(table: IntArray, cells: FloatArray, groups: Groups) -> bool: ...

# -- regression.cpp, softmax.cpp: sums over a block of rows z = (x - centre) inverse_scale, then a one: the intercept --

RowWeights: TypeAlias = FloatArray
"""One for each row; empty where every row counts once."""

def logistic_pass(
    values: Values,
    centre: FloatArray,
    inverse_scale: FloatArray,
    weights: FloatArray,
    targets: CodeArray,
    row_weights: RowWeights,
    gradient: FloatArray,
    hessian: FloatArray,
) -> float:
    """The loss; the gradient (d + 1,) and the Hessian (d + 1, d + 1) are filled. Targets are 0 or 1."""

def softmax_pass(
    values: Values,
    centre: FloatArray,
    inverse_scale: FloatArray,
    weights: FloatArray,
    targets: CodeArray,
    row_weights: RowWeights,
    gradient: FloatArray,
    probabilities: FloatArray,
) -> float:
    """The loss; the gradient (K, d + 1) and the probabilities (n, K) are filled."""

def softmax_along(
    values: Values,
    centre: FloatArray,
    inverse_scale: FloatArray,
    direction: FloatArray,
    probabilities: FloatArray,
    row_weights: RowWeights,
    product: FloatArray,
) -> None:
    """The Hessian of the softmax loss times a direction (K, d + 1)."""

def shape_of_tiles(n_rows: int, n_columns: int) -> tuple[int, int]:
    """The shape of standardised rows with a one at their end, and zeros around them."""

def fill_tiles(
    values: Values, centre: FloatArray, inverse_scale: FloatArray, tiles: npt.NDArray[np.float32]
) -> None: ...
def softmax_roughly_along(
    tiles: npt.NDArray[np.float32],
    direction: FloatArray,
    probabilities: FloatArray,
    row_weights: RowWeights,
    product: FloatArray,
) -> None:
    """The same in single precision, of rows that `fill_tiles` has made."""

def student_t_sums(
    values: FloatArray, share: FloatArray, location: float, scale: float, k: float, farthest: float
) -> list[float]:
    """The sums of w, w z, w z^2, w (2 s - 1), w z s and w z^2 s, in one order on every instruction set.

    z = (x - location) / scale within +-farthest, s = 1 / (1 + k z^2), w = share (1 + k) s.
    """

HashArray: TypeAlias = npt.NDArray[np.uint64]

def row_hashes(values: Values, targets: FloatArray, odd: HashArray, hashes: HashArray) -> None:
    """64 bits of the cells and the target of each row, with a factor for each of them; 0.0 and -0.0 are one value."""

def odd_factors(odd: HashArray) -> None:
    """Odd numbers of 63 bits, always the same ones: a prefix of one sequence for each size."""

def places_by_hash(hashes: HashArray, first: int, last: int, places: IntArray, sorted: HashArray) -> None:
    """The places of the hashes whose first byte is in `first` to before `last`, ascending, and these hashes.

    Each range of first bytes fills its own part of `places` and `sorted`; equal hashes keep the order of their places.
    """

def rows_at(values: Values, places: IntArray, rows: Values) -> None:
    """The rows at some places, without a minus before any zero."""

def weighted_products(
    values: Values, centre: FloatArray, inverse_scale: FloatArray, row_weights: RowWeights, products: FloatArray
) -> None:
    """The sum over rows of w z z', (d + 1, d + 1)."""

def solve_positive(matrix: FloatArray, right: FloatArray, solution: FloatArray) -> float:
    """The solution of a positive definite system, (n, n) and (n,), by Cholesky's factor.

    The least pivot of the factor where columns are scaled to a diagonal of 1; 0 where there is none, and no solution.
    """

def log_gamma(x: FloatArray, logs: FloatArray) -> None:
    """log |gamma(x)| of each number, into an array of the same size."""

def coordinate_rounds(
    matrix: FloatArray, penalty: FloatArray, weights: FloatArray, slope: FloatArray, rounds: int
) -> float:
    """Rounds of coordinate descent for v' M v / 2 - m . v + penalty . |v|, M symmetric, with slope = m - M v.

    Weights and slope change in place. The largest change of the last round, as a share of the largest weight; rounds
    end where it is at most 1e-9.
    """

# -- extremes.cpp: the least and the largest number of each column ---------------------------------------------------

def widen_extremes(values: FloatArray, low: FloatArray, high: FloatArray, present: IntArray) -> None:
    """Take in the least, the largest and the number of cells of each column; NaN is missing."""

# -- integers.cpp: integer categories as codes ----------------------------------------------------------------------

def widen_extents(values: Integers, lowest: IntArray, highest: IntArray) -> None: ...
def mark_integers(
    values: Integers, lowest: IntArray, sizes: IntArray, starts: IntArray, seen: npt.NDArray[np.uint8]
) -> bool:
    """seen[entry] = 1 for every value within its column's extent; whether all values are."""

def recode_integers(
    codes: ShortCodes, values: Integers, lowest: IntArray, sizes: IntArray, starts: IntArray, code_of: CodeArray
) -> None: ...
def recode_levels(codes: CodeArray, levels: CodeArray, code_of: CodeArray, unknown: int) -> bool:
    """codes = code_of[level], its last entry for levels below 0; whether one of the codes is `unknown`."""

def gibbs(
    blocks: Sequence[tuple[Sequence[int], CodeArray, Sequence[tuple[FloatArray, Sequence[tuple[int, int]], IntArray]]]],
    chains: CodeArray,
    target: int,
    place: int,
    n_burn: int,
    n_sweeps: int,
    seed: int,
    first_chain: int,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Moves chains (n_chains, n_nodes) on; a block is its nodes, its configurations and its factors.

    A factor is its cells, the strides of nodes outside the block and an offset for each configuration. sums and
    squares (n_chains, n_states) add up P(target | all else) of each sweep after n_burn.
    """

SoftEvidence: TypeAlias = Sequence[tuple[int, FloatArray]]
"""Likelihoods of the states of nodes."""

class NetworkTables:
    """A network for all of its trees; tables are (n_configurations, n_states), the last parent fastest."""

    def __init__(
        self, sizes: Sequence[int], parents: Sequence[Sequence[int]], tables: Sequence[FloatArray]
    ) -> None: ...
    def order(self, most_work: float) -> tuple[list[int], float, float]:
        """An order to eliminate all nodes, the cells of its cliques, the words looked at; [] if these are too many."""

class PairElimination:
    """How to sum variables out of probabilities and utilities; `of` is x where a table is p(x | others), else -1."""

    def __init__(
        self,
        sizes: Sequence[int],
        scopes: Sequence[Sequence[int]],
        is_utility: Sequence[bool],
        of: Sequence[int],
        keep: Sequence[int],
        largest: float,
    ) -> None: ...
    @property
    def n_cells(self) -> float:
        """Of the largest table of any step that was planned."""
    @property
    def n_steps(self) -> int: ...
    @property
    def too_large(self) -> list[int]:
        """The variables of a table that would have more cells than are allowed; empty if there is none."""
    def run(self, tables: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, float]:
        """p and u of the kept variables, both with their shape, and the logarithm of what p was divided by."""

def best_options(
    probability: FloatArray, utility: FloatArray, axis: int, near: float, allowed: BoolArray | None
) -> tuple[IntArray, FloatArray, FloatArray, BoolArray, BoolArray, bool]:
    """(option, its utility, utilities, whether it is possible, which are as good, is one possible case a tie).

    The options are along `axis` of what is given, and the last axis of utilities and of `allowed`.
    """

class JunctionTree:
    """Cliques of a network for one question, in an order of all nodes if one is given."""

    def __init__(
        self,
        tables: NetworkTables,
        relevant: Sequence[int],
        observed: Sequence[int],
        last: Sequence[int],
        last_is_root: bool,
        maximise_all: bool,
        order: Sequence[int] = ...,
    ) -> None: ...
    @property
    def n_cells(self) -> float: ...
    @property
    def n_bytes(self) -> float:
        """What a run keeps: the cells of cliques and of the messages between them."""
    @property
    def planned(self) -> bool:
        """False where planning was given up: n_cells is then the least that is needed, and queries are refused."""
    @property
    def n_cliques(self) -> int: ...
    def posterior(self, states: Sequence[int], soft: SoftEvidence) -> tuple[FloatArray, float]: ...
    def marginals(
        self, nodes: Sequence[int], states: Sequence[int], soft: SoftEvidence
    ) -> tuple[FloatArray, float]: ...
    def best(self, states: Sequence[int], soft: SoftEvidence) -> tuple[list[int], float]: ...
    def batch(
        self, codes: CodeArray, columns: Sequence[int], soft: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Posteriors and log P(row); code n_states + k is the k-th likelihood in `soft` of a column (any, n_states)."""

def count_family(
    columns: UnsignedCodes,
    scope: Sequence[int],
    sizes: Sequence[int],
    counts: IntArray,
    weights: IntArray | None = None,
) -> None:
    """Adds how often each combination occurs; columns is (n_columns, n_rows), the last of the scope changes fastest."""

def grow_tree(
    codes: npt.NDArray[np.uint8],
    n_bins: IntArray,
    offered: IntArray,
    weight: FloatArray,
    slope: FloatArray,
    curvature: FloatArray,
    least_weight: float,
    least_curvature: float,
    ridge: float,
    node: IntArray,
    feature: IntArray,
    bin: IntArray,
    leaf: IntArray,
) -> None:
    """The splits of a tree of Newton steps, that of the largest gain first, and the node at which each row ends.

    codes is (n_rows, n_features); only the features `offered` are split on, and the first rows, those that
    have a slope, are learned from. Each branch has at least these sums of weights and of curvatures. Rows of node[k]
    whose code is at least bin[k] go to node 2 k + 2, the others to 2 k + 1; splits that gain nothing have node -1.
    """

def add_by_feature(
    numbers: FloatArray,
    state: IntArray,
    node: IntArray,
    feature: IntArray,
    threshold: FloatArray,
    value: FloatArray,
    added: FloatArray,
) -> None:
    """added[row, state, feature] += what the splits of trees on a feature add to the score of a state.

    A split moves a row from the value of its node to that of the node after it; all but numbers and added have one
    row for each tree.
    """

def pair_counts(codes: Codes, sizes: IntArray, groups: Groups, weights: IntArray | None, table: IntArray) -> None:
    """Fills a table of zeros, (n_groups, S, S) with S = sum(sizes + 1): how often two slots occur in one row.

    Column c has sizes[c] slots in the order of the codes, then one for missing (code -1).
    """

# -- decisions.cpp: from posteriors to actions ----------------------------------------------------------------------

def expected_costs(probability: FloatArray, table: FloatArray, expected: FloatArray, best: IntArray) -> None:
    """Fills expected (n_actions, n_rows) and the first least action of each row; the table is (n_actions, n_states)."""

def shift_rows(probability: FloatArray, factor: FloatArray, moved: FloatArray) -> int:
    """p(s) factor(s), normalised, into moved; the first row that has nothing left, or -1."""

# -- cuts.cpp: where to cut a column of numbers -----------------------------------------------------------------------

def cut_points(values: FloatArray, groups: CodeArray, n_groups: int, weights: FloatArray | None) -> list[float]:
    """The cuts, in increasing order, that shorten the description of the groups; values are finite."""

# -- dependences.cpp: log joints of rows whose columns depend on each other; -1 is summed out, -2 is the last slot -----

def add_tree(
    log_joint: FloatArray,
    codes: CodeArray,
    sizes: IntArray,
    parents: IntArray,
    order: IntArray,
    starts: IntArray,
    tables: FloatArray,
) -> None:
    """Column c has the table (sizes[parent] + 1, sizes[c] + 1, n_states) at starts[c]; parents come first in order."""

def add_superparents(
    log_joint: FloatArray, codes: CodeArray, sizes: IntArray, pairs: FloatArray, singles: FloatArray, allowed: BoolArray
) -> None:
    """Column c has sizes[c] + 1 slots; pairs is (n_slots, n_slots, n_states), the superparent's slot first, zero given
    itself; singles is (n_slots, n_states)."""

class FamilyScores:
    """Scores of families of columns (n_columns, n_rows): likelihood minus a penalty, or the Dirichlet evidence.

    `strength` is the number of pseudo-rows of a family, below 0 one row in each cell; a row counts as many units
    as its weight says.
    """

    def __init__(
        self,
        columns: UnsignedCodes,
        sizes: Sequence[int],
        dirichlet: bool,
        penalty: float,
        strength: float,
        weights: IntArray | None = None,
        unit: float = 1.0,
    ) -> None: ...
    def additions(self, node: int, parents: Sequence[int], candidates: Sequence[int]) -> list[float]:
        """The score of the node given its parents and each candidate; minus infinity where the table is too large."""

class EdgeChanges:
    """The graph of a hill climb, at first without edges; edges that are `fixed` stay, and only `allowed` ones turn.

    Both are (n, n) [parent, child].
    """

    def __init__(self, allowed: BoolArray, fixed: BoolArray) -> None: ...
    def put(self, parent: int, child: int) -> None: ...
    def drop(self, parent: int, child: int) -> None: ...
    def leads(self, from_: int, to: int) -> bool:
        """Whether a path leads from one node to the other, or both are the same."""
    def set_gains(self, node: int, parents: Sequence[int], gains: Sequence[float]) -> None:
        """What it adds to the score to put or drop the edge from each of the parents; no other edge is possible."""
    def best(self, tabu: Sequence[tuple[int, int]], rounding: float, losing: bool) -> tuple[int, int, bool] | None:
        """The parent and the child of the edge to put, drop or reverse, and whether it is reversed.

        None where no change gains more than rounding and none may lose; edges between the pairs of `tabu` stay.
        """

class ExpectedCounts:
    """Expected counts of all tables for rows with one pattern of missing cells, or any where nothing is `observed`."""

    def __init__(
        self, sizes: Sequence[int], parents: Sequence[Sequence[int]], relevant: Sequence[int], observed: Sequence[int]
    ) -> None: ...
    @property
    def n_cells(self) -> float: ...
    @property
    def planned(self) -> bool:
        """False where planning was given up: n_cells is then the least that is needed, and queries are refused."""
    def use(self, tables: FloatArray) -> None:
        """All tables one after the other, the node's states adjacent."""
    def add(
        self,
        codes: CodeArray,
        columns: Sequence[int],
        soft: Sequence[FloatArray],
        weights: FloatArray,
        counts: FloatArray,
    ) -> float:
        """Adds w P(cell | row) for each cell of each table; the answer is the sum of w log P(row).

        Code n_states + k is the k-th likelihood in `soft` of a column (any, n_states).
        """
    def log_evidence(
        self, codes: CodeArray, columns: Sequence[int], soft: Sequence[FloatArray], out: FloatArray
    ) -> None:
        """log P(row) of each row."""

# -- sequences.cpp: forward and backward along sequences --------------------------------------------------------------

def expected_moves(cells: FloatArray, shapes: IntArray, steps: IntArray, ends: IntArray, sums: FloatArray) -> float:
    """Adds P(move | sequence) for each cell of the matrix of each kind of step; the answer is the log of all totals."""

# -- subset_sums.cpp, exact_structure.cpp: the best graph of all; sets of columns are bits ----------------------------

def subset_sums(
    columns: UnsignedCodes,
    sizes: Sequence[int],
    weights: IntArray,
    pseudo_counts: Sequence[float],
    strength: float,
    chosen: int,
    n_first: int,
    most: int,
    most_cells: float,
    sums: FloatArray,
    unit: float = 1.0,
) -> None:
    """Sums over the cells of all sets that have the columns `chosen` of the first ones, into sums (n_sums, 2^n).

    Of n log n; of log Gamma(n + a) / Gamma(a) with a = strength / cells of the set; or for each `pseudo_counts` a.
    """

def best_parents(
    cells: FloatArray,
    totals: FloatArray,
    sizes: Sequence[int],
    node: int,
    allowed: int,
    required: int,
    most: int,
    penalty: float,
    most_cells: float,
    best: FloatArray,
) -> None:
    """Fills best[node], (2^(n - 1),): the score of the best parents within each set of the others."""

def parent_list(
    cells: FloatArray,
    totals: FloatArray,
    sizes: Sequence[int],
    node: int,
    allowed: int,
    required: int,
    most: int,
    penalty: float,
    most_cells: float,
) -> tuple[list[int], list[float]]:
    """The sets of parents that no subset beats, and their scores, best first."""

def best_graphs(best: FloatArray, totals: FloatArray, last: npt.NDArray[np.uint8], begin: int, end: int) -> None:
    """The score of the best graph over each set from begin to end, and its last node."""

def best_graphs_of_lists(
    parents: npt.NDArray[np.uint32],
    scores: FloatArray,
    starts: Sequence[int],
    totals: FloatArray,
    last: npt.NDArray[np.uint8],
    begin: int,
    end: int,
) -> None:
    """The same with lists of parents, that of a node from starts[node] on."""

# -- order_chain.cpp: orders of columns by their posterior -------------------------------------------------------------

def order_chain(
    sets: npt.NDArray[np.uint64],
    scores: FloatArray,
    starts: Sequence[int],
    order: npt.NDArray[np.int32],
    draws: FloatArray,
    found: FloatArray,
) -> list[float]:
    """Steps of a chain from an order, in place; P(edge | order) is added to `found` after every n, (parent, child)."""
