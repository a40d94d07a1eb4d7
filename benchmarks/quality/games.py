"""Tables that rules decide without noise: games, chess endgames and a balance. Settings may be chosen by them, too.

Trees that are good at the rules of `development.py` were behind others on chess endgames, so some are generated here.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from benchmarks.quality.tables import Table, Tables

WINNING = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe() -> Table:
    """All 958 boards at the end of a game: whether the first player has won."""
    ended, seen, open_boards = [], set[str](), ["b" * 9]
    while open_boards:
        board = open_boards.pop()
        if board in seen:
            continue
        seen.add(board)
        if _has_won(board, "x") or _has_won(board, "o") or "b" not in board:
            ended.append(board)
            continue
        player = "x" if board.count("x") == board.count("o") else "o"
        open_boards += [board[:k] + player + board[k + 1 :] for k in range(9) if board[k] == "b"]
    frame = pd.DataFrame([list(board) for board in sorted(ended)], columns=[f"square{k}" for k in range(9)])
    return frame, pd.Series(["won" if _has_won(board, "x") else "not" for board in sorted(ended)], name="y")


def _has_won(board: str, player: str) -> bool:
    return any(all(board[k] == player for k in line) for line in WINNING)


def balance() -> Table:
    """Which side of a balance sinks: weights and distances from 1 to 5 as categories, 625 rows."""
    rows = list(product(range(1, 6), repeat=4))
    moment = np.array([left * far - right * away for left, far, right, away in rows])
    frame = pd.DataFrame(rows, columns=["left", "left distance", "right", "right distance"]).astype(str)
    return frame, pd.Series(np.array(["right", "even", "left"])[np.sign(moment) + 1], name="y")


def exactly_two(n: int, seed: int) -> Table:
    """Whether just two of six categories have their first level."""
    g = np.random.default_rng(seed)
    levels = np.stack([g.integers(1, size + 1, n) for size in (3, 3, 2, 3, 4, 2)], axis=1)
    frame = pd.DataFrame(levels, columns=[f"a{k}" for k in range(6)]).map(lambda level: f"v{level}")
    return frame, pd.Series(np.where((levels == 1).sum(axis=1) == 2, "yes", "no"), name="y")


def illegal_positions(n: int, seed: int) -> Table:
    """King and rook against king, White to move: whether the position is illegal, by squares and their differences."""
    places = np.random.default_rng(seed).integers(0, 8, (n, 3, 2))  # of white king, rook and black king
    white, rook, black = places.transpose(1, 0, 2)
    shares = rook == black  # a file, a rank
    between = (white == rook) & ((white[:, ::-1] - rook[:, ::-1]) * (white[:, ::-1] - black[:, ::-1]) < 0)
    in_check = (shares & ~between).any(axis=1)
    kings_touch = (np.abs(white - black) <= 1).all(axis=1)
    on_one_square = (white == rook).all(axis=1) | (rook == black).all(axis=1)
    columns: dict[str, np.ndarray] = {}
    for k, line in enumerate(("file", "rank")):
        columns |= {f"white {line}": white[:, k], f"rook {line}": rook[:, k], f"black {line}": black[:, k]}
        columns[f"kings apart, {line}"] = np.minimum(np.abs(white - black)[:, k], 3)
        columns[f"rook beside black, {line}"] = np.sign(rook - black)[:, k]
        columns[f"white beside rook, {line}"] = np.sign(white - rook)[:, k]
    frame = pd.DataFrame(columns).map(lambda place: f"v{place}")
    illegal = in_check | kings_touch | on_one_square
    return frame, pd.Series(np.where(illegal, "illegal", "legal"), name="y")


# -- king and pawn against king -------------------------------------------------------------------------------
FILE, RANK = np.divmod(np.arange(64), 8)  # of a square
NEAR = np.maximum(np.abs(FILE[:, None] - FILE), np.abs(RANK[:, None] - RANK)) <= 1  # (64, 64) where a king goes to
PAWNS = [square for square in range(64) if 1 <= RANK[square] <= 6]


def pawn_endgames(n: int, seed: int) -> Table:
    """King and pawn against king, White to move: whether it is won, by 34 properties of the position."""
    won, possible = _won_positions()
    positions = np.argwhere(possible)
    king, other, pawn = positions[np.random.default_rng(seed).permutation(len(positions))[:n]].T
    queening = 8 * FILE[pawn] + 7
    moves = 7 - RANK[pawn] - (RANK[pawn] == 1)  # of the pawn
    to_pawn, other_to_pawn, to_queening, other_to_queening = (
        np.maximum(np.abs(FILE[one] - FILE[two]), np.abs(RANK[one] - RANK[two]))
        for one, two in ((king, pawn), (other, pawn), (king, queening), (other, queening))
    )
    files, ranks = np.abs(FILE[king] - FILE[other]), np.abs(RANK[king] - RANK[other])
    columns = {
        "rook's pawn": np.isin(FILE[pawn], (0, 7)),
        "in the square": other_to_queening <= moves,
        "nearly in the square": other_to_queening <= moves + 1,
        "king at queening": to_queening <= 1,
        "other at queening": other_to_queening <= 1,
        "king nearer to queening": to_queening < other_to_queening,
        "king at pawn": to_pawn <= 1,
        "other at pawn": other_to_pawn <= 1,
        "king two from pawn": to_pawn <= 2,
        "king nearer to pawn": to_pawn < other_to_pawn,
        "as near to pawn": to_pawn == other_to_pawn,
        "king ahead": RANK[king] > RANK[pawn],
        "king far ahead": RANK[king] > RANK[pawn] + 1,
        "king behind": RANK[king] < RANK[pawn],
        "other ahead": RANK[other] > RANK[pawn],
        "other behind": RANK[other] < RANK[pawn],
        "king on the file": FILE[king] == FILE[pawn],
        "other on the file": FILE[other] == FILE[pawn],
        "opposition": (files == 0) & (ranks == 2),
        "side opposition": (files == 2) & (ranks == 0),
        "diagonal opposition": (files == 2) & (ranks == 2),
        "even": (files + ranks) % 2 == 0,
        "king blocks": king == pawn + 1,
        "other blocks": other == pawn + 1,
        "pawn between": (FILE[king] - FILE[pawn]) * (FILE[other] - FILE[pawn]) < 0,
        "king on the sixth": RANK[king] == 5,
        "other on the seventh": RANK[other] == 6,
        "other on the eighth": RANK[other] == 7,
        "pawn on the second": RANK[pawn] == 1,
        "pawn on the fifth or further": RANK[pawn] >= 4,
        "pawn on the sixth": RANK[pawn] == 5,
        "pawn on the seventh": RANK[pawn] == 6,
        "files to the pawn": np.minimum(np.abs(FILE[other] - FILE[pawn]), 3),
        "ranks to the pawn": np.clip(RANK[other] - RANK[pawn], -1, 3),
    }
    return pd.DataFrame(columns).astype(str), pd.Series(np.where(won[king, other, pawn], "won", "drawn"), name="y")


def _won_positions() -> tuple[np.ndarray, np.ndarray]:
    """(64, 64, 64) of white king, black king and pawn: which are won with White to move, and which are possible."""
    standing, attacked = np.zeros((2, 64, 64, 64), dtype=bool)
    for pawn in PAWNS:
        standing[:, :, pawn] = ~NEAR
        standing[pawn, :, pawn] = standing[:, pawn, pawn] = False
        attacked[:, (RANK[pawn] + 1 == RANK) & (np.abs(FILE - FILE[pawn]) == 1), pawn] = True
    possible = standing & ~attacked  # White is to move, so Black is not in check
    won, lost = np.zeros((2, 64, 64, 64), dtype=bool)  # for White to move, for Black to move
    while True:
        now_won = possible & _white_wins(lost & standing)
        now_lost = standing & _black_loses(now_won, standing & ~attacked, attacked)
        if np.array_equal(now_won, won) and np.array_equal(now_lost, lost):
            return won, possible
        won, lost = now_won, now_lost


def _white_wins(lost: np.ndarray) -> np.ndarray:
    """Where a move of the king or the pawn leads to a position that is lost for Black, or a queen is safe."""
    found = np.zeros_like(lost)
    for king in range(64):
        found[king] = lost[NEAR[king] & (np.arange(64) != king)].any(axis=0)
    for pawn in PAWNS:
        free = np.ones((64, 64), dtype=bool)
        for steps in (1, 2) if RANK[pawn] == 1 else (1,):
            free[pawn + steps] = free[:, pawn + steps] = False
            after = NEAR[:, [pawn + 1]] | ~NEAR[pawn + 1] if RANK[pawn] == 6 else lost[:, :, pawn + steps]
            found[:, :, pawn] |= free & after
    return found


def _black_loses(won: np.ndarray, safe: np.ndarray, attacked: np.ndarray) -> np.ndarray:
    """Where every move of the black king leads to a position that White wins; and mate, but not stalemate."""
    can_move, escapes = np.zeros((2, 64, 64, 64), dtype=bool)
    for king in range(64):
        for target in np.flatnonzero(NEAR[king] & (np.arange(64) != king)).tolist():
            can_move[:, king] |= safe[:, target]
            escapes[:, king] |= safe[:, target] & ~won[:, target]
            can_move[:, king, target] |= ~NEAR[:, target]  # takes the pawn
            escapes[:, king, target] |= ~NEAR[:, target]
    return np.asarray(np.where(can_move, ~escapes, attacked))


GAMES: Tables = {
    "tic-tac-toe": tic_tac_toe,
    "balance": balance,
    "exactly two": lambda: exactly_two(400, 1),
    "illegal positions": lambda: illegal_positions(1_500, 2),
    "pawn endgames": lambda: pawn_endgames(1_200, 3),
}
