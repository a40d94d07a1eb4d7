"""Options that take several values at once: `--observe sunny cool` is `--observe sunny --observe cool`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import typer.core


class ManyValues(typer.core.TyperCommand):
    """A command in which every option that may be repeated may instead have several values after it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        repeatable = {name for option in self.params if getattr(option, "multiple", False) for name in option.opts}
        return super().parse_args(ctx, list(spread(args, repeatable)))


class ManyPairs(typer.core.TyperCommand):
    """A command in which options of NAME=VALUE may have several of them after it, and all else are arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        repeatable = {name for option in self.params if _takes_pairs(option) for name in option.opts}
        return super().parse_args(ctx, list(spread(args, repeatable, pairs=True)))


def _takes_pairs(option: Any) -> bool:
    return getattr(option, "multiple", False) and "=" in (option.metavar or "")


def spread(words: Iterable[str], repeatable: Collection[str], *, pairs: bool = False) -> Iterator[str]:
    """Put the option before each of its values; with `pairs`, a word without '=' is no value of it.

    >>> list(spread(["--observe", "sunny", "cool", "--json"], {"--observe"}))
    ['--observe', 'sunny', '--observe', 'cool', '--json']
    >>> list(spread(["--prior", "yes=.6", "no=.4", "golf.csv"], {"--prior"}, pairs=True))
    ['--prior', 'yes=.6', '--prior', 'no=.4', 'golf.csv']
    """
    option, waiting = "", False  # the option that values now belong to; whether it still has none
    words = list(words)
    for position, word in enumerate(words):
        if word == "--":
            yield from words[position:]
            return
        if word.startswith("-"):
            name, _, value = word.partition("=")
            option, waiting = (name, not value) if name in repeatable else ("", False)
            yield word
        else:
            if option and not waiting and (not pairs or "=" in word):
                yield option
            yield word
            waiting = False
