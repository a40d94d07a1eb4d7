"""Options that take several values at once: `--observe sunny cool` is `--observe sunny --observe cool`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import typer.core


class ManyValues(typer.core.TyperCommand):
    """A command in which every option that may be repeated may instead have several values after it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        repeatable = {
            name for option in self.params if getattr(option, "multiple", False) for name in option.opts
        }
        return super().parse_args(ctx, list(spread(args, repeatable)))


def spread(words: Iterable[str], repeatable: Collection[str]) -> Iterator[str]:
    """Put the option before each of its values.

    >>> list(spread(["--observe", "sunny", "cool", "--json"], {"--observe"}))
    ['--observe', 'sunny', '--observe', 'cool', '--json']
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
            if option and not waiting:
                yield option
            yield word
            waiting = False
