"""Sessions of Spark that the command line starts, on a cluster or on this machine, and the tables that they read."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from bayeswise.engines.spark import SparkSource, first_line
from bayeswise.foundation.errors import NotInstalledError, SourceError

LEAST_JAVA = 17
_PATIENCE = 10.0  # seconds for a server to answer


@contextmanager
def parquet(paths: Sequence[str], master: str | None) -> Iterator[SparkSource]:
    """The table in Parquet files (paths, URLs, globs), on the cluster of a master or on the cores of this machine."""
    from pyspark.sql import SparkSession

    own = SparkSession.getActiveSession()  # which goes on afterwards
    session = own or started(master or "local[*,4]")  # tasks are tried again, as on a cluster
    try:
        yield SparkSource(_read(session, paths))
    finally:
        if own is None:
            session.stop()


def _read(session: Any, paths: Sequence[str]) -> Any:
    try:
        return session.read.parquet(*paths)
    except Exception as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        raise SourceError(
            f"Spark finds no such file: {', '.join(paths)}", fix="check the path; quote a glob: 'part-*.parquet'"
        ) from None


def started(master: str) -> Any:
    """A session on the cluster of a master, or of a server of Spark Connect (sc://HOST)."""
    from pyspark.sql import SparkSession

    _refuse_unreachable(master)
    is_connect = master.startswith("sc://")
    if not is_connect:
        check_java()
    builder = SparkSession.builder.appName("bayeswise")
    try:
        if is_connect:
            session = builder.remote(master).getOrCreate()
            _ = session.version  # the first answer of the server
            return session
        quiet = builder.master(master).config("spark.ui.showConsoleProgress", "false")
        return quiet.config("spark.log.level", "ERROR").getOrCreate()
    except ImportError as error:
        raise NotInstalledError(
            f"Spark Connect needs the package {error.name or 'grpcio'}", fix="pip install 'pyspark[connect]'"
        ) from error
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        raise SourceError(
            f"Spark does not start with the master {master!r}: {_reason(str(error))}",
            fix="check the address, and see what Spark wrote above; --master 'local[*]' runs on this machine",
        ) from error


def _refuse_unreachable(master: str) -> None:
    """Spark itself would try for minutes, and Spark Connect cannot be interrupted meanwhile."""
    addresses = server_addresses(master)
    for host, port in addresses:
        with suppress(OSError), socket.create_connection((host, port), timeout=_PATIENCE):
            return
    if addresses:
        shown = " or ".join(f"{host}:{port}" for host, port in addresses)
        raise SourceError(
            f"there is no server of Spark at {shown}",
            fix="check the address, and that the server runs; --master 'local[*]' runs on this machine",
        )


def server_addresses(master: str) -> list[tuple[str, int]]:
    """Host and port of the servers in a master; none for yarn, Kubernetes and this machine.

    >>> server_addresses("sc://host/;use_ssl=true"), server_addresses("spark://one:7077,two"), server_addresses("yarn")
    ([('host', 15002)], [('one', 7077), ('two', 7077)], [])
    """
    scheme, _, rest = master.partition("://")
    default = {"sc": 15002, "spark": 7077}.get(scheme)
    if default is None:
        return []
    try:
        found = [urlsplit(f"//{each}") for each in re.split("[/;]", rest)[0].split(",")]
        return [(each.hostname or "", each.port or default) for each in found]
    except ValueError:
        raise SourceError(f"{master!r} is not an address of Spark", fix="write sc://HOST:PORT") from None


def _reason(text: str) -> str:
    """What an exception of Java is about: the first line after the name of its class.

    >>> _reason("An error occurred while calling None.\\n: org.apache.spark.SparkException: no such host\\n\\tat a.b")
    'no such host'
    """
    matched = re.search(r"^: *[\w.$]+(?:Exception|Error): *(.+)$", text, re.MULTILINE)
    return matched[1].strip() if matched else first_line(text)


def check_java() -> str:
    """The java that Spark will start: that of JAVA_HOME, else the one on the PATH; refused if it is too old."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    version = 0 if java is None else java_version(java)
    if java is None or version < LEAST_JAVA:
        what = "there is no Java" if not version else f"{java} is Java {version}"
        raise NotInstalledError(
            f"Spark needs Java {LEAST_JAVA} or later, and {what}",
            fix=f"install it (Debian: apt install openjdk-{LEAST_JAVA}-jre-headless), and set JAVA_HOME if there are "
            "several",
        )
    return java


def java_version(java: str) -> int:
    """The main version of a java, 8 for 1.8; 0 if it cannot be run."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except OSError:
        return 0
    matched = re.search(r'version "(?:1\.)?(\d+)', shown)
    return int(matched[1]) if matched else 0
