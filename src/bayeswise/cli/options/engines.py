"""Where `fit` sweeps the rows: on this machine, or on Spark or Dask; --engine, --master, --scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from bayeswise.cli.output.writing import say
from bayeswise.foundation.errors import NotInstalledError, UsageError

if TYPE_CHECKING:
    from bayeswise.tables.partitions import SpreadSource

EngineName: TypeAlias = Annotated[
    Literal["local", "spark", "dask"] | None,
    typer.Option("--engine", help="Who sweeps the rows of Parquet files: this machine (local), or Spark or Dask."),
]
Master: TypeAlias = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Spark: the cluster, such as spark://HOST:7077, yarn, sc://HOST."),
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Dask: the scheduler, such as tcp://HOST:8786."),
]
_OWN = {"master": "spark", "scheduler": "dask"}
_READERS = {"spark": "bayeswise.engines.spark_sessions", "dask": "bayeswise.engines.dask"}


@dataclass(frozen=True)
class Engine:
    """The options about where rows are swept."""

    engine: EngineName = None
    master: Master = None
    scheduler: Scheduler = None

    @contextmanager
    def opened(self, files: Sequence[str]) -> Iterator[SpreadSource | None]:
        """The table in Parquet files, spread over a cluster; None where this machine sweeps the rows."""
        for name, own in _OWN.items():
            if getattr(self, name) is not None and self.engine != own:
                raise UsageError(f"--{name} is about --engine {own}", fix=f"add --engine {own}, or leave it out")
        if self.engine is None or self.engine == "local":
            yield None
            return
        other = next((file for file in files if not file.rstrip("/*").endswith((".parquet", ".pq"))), None)
        if other is not None:
            raise UsageError(
                f"--engine {self.engine} reads Parquet files; found {other!r}",
                fix="name files that end in .parquet, or leave out --engine",
            )
        try:
            engine = import_module(_READERS[self.engine])
        except ImportError as error:
            raise NotInstalledError(
                f"--engine {self.engine} needs the package {error.name}", fix=f"pip install 'bayeswise[{self.engine}]'"
            ) from None
        with engine.parquet(files, self.master or self.scheduler) as source:
            yield source
            passes = f"{len(source.passes)} pass{'es' * (len(source.passes) != 1)}"
            say(f"{passes} over {source.n_partitions} partitions: {', '.join(source.passes)}.")
