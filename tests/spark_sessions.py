"""Spark for the tests: one process of Java, one session at a time; Java is looked for as the docs say.

Tests that take the fixture `spark` run in one process (tests/scheduling.py) and share a session on two threads.
One that loses an executor takes `spark_cluster`, whose executors are processes of their own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.scheduling import by_turns

LOCAL = "local[2,4]"  # a task that fails, as one whose Python does not start, is tried again, as on a cluster
# What is compiled once and runs for seconds is not worth the time of the second compiler. Pools are those of two cores
# on every machine: processes and threads may be limited.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ActiveProcessorCount=2"
LONGEST = 600.0  # seconds for a test on a cluster
FEW_THREADS = {
    "spark.cleaner.referenceTracking": "false",  # which forgets broadcasts by a hundred threads for each executor
    "spark.executor.cores": "1",  # two executors on one worker of a cluster: a second worker has 30 threads
    "spark.resultGetter.threads": "1",
    "spark.rpc.io.clientThreads": "1",
    "spark.rpc.io.serverThreads": "1",
    "spark.rpc.netty.dispatcher.numThreads": "2",
    "spark.shuffle.io.clientThreads": "1",
    "spark.shuffle.io.serverThreads": "1",
    "spark.shuffle.mapOutput.dispatcher.numThreads": "1",
    "spark.sql.broadcastExchange.maxThreadThreshold": "2",
    "spark.sql.resultQueryStage.maxThreadThreshold": "2",
    "spark.sql.shuffleExchange.maxThreadThreshold": "2",
}


def find_java() -> bool:
    """Whether there is a Java that is new enough; Debian's is installed where this user may do that."""
    from bayeswise.engines.spark_sessions import LEAST_JAVA, check_java, java_version
    from bayeswise.foundation.errors import NotInstalledError

    try:
        check_java()
    except NotInstalledError:
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            return False
        command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", f"openjdk-{LEAST_JAVA}-jre-headless"]
        subprocess.run(command, capture_output=True, timeout=600, check=False)
        java = shutil.which("java")
        return java is not None and java_version(java) >= LEAST_JAVA
    return True


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@dataclass
class SparkSessions:
    """The session of a master; that of another one ends first, since a process has one."""

    folder: Path
    master: str = ""
    session: Any = None
    port: int = field(default_factory=_free_port)  # of the server of Spark Connect, for all sessions
    turn: ExitStack = field(default_factory=ExitStack)

    def of(self, master: str) -> Any:
        if master != self.master or self.session._jsc.sc().isStopped():
            self.stop()
            self.turn.enter_context(by_turns())
            self.master, self.session = master, self._started(master)
        return self.session

    def stop(self) -> None:
        if self.session is not None:
            self.session.stop()
            self.master, self.session = "", None
        self.turn.close()

    def remote(self) -> Any:
        """A session of Spark Connect, on a server in the process of the session on two threads."""
        self.of(LOCAL)
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.builder.remote(f"sc://127.0.0.1:{self.port}").create()

    def _started(self, master: str) -> Any:
        """As the command line starts it; the other settings come from its surroundings."""
        from bayeswise.engines.spark_sessions import started

        options = f"{JAVA_OPTIONS} -Djava.io.tmpdir={self.folder}"  # Java knows nothing of TMPDIR
        settings = {
            "spark.ui.enabled": "false",
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.connect.progress.reportInterval": "50ms",  # a pass over a few rows may end within the usual 2 s
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "1g",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": options,
            "spark.executor.extraJavaOptions": options,
            "spark.local.dir": str(self.folder),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[1]),
            **FEW_THREADS,
        }
        words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*words, "pyspark-shell"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return started(master)


SESSIONS = pytest.StashKey[SparkSessions]()


@pytest.fixture(scope="session")
def spark_sessions(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSessions]:
    """The sessions of this run."""
    if not find_java():
        reason = "SPARK IS NOT TESTED: no Java 17 (set JAVA_HOME, or install openjdk-17-jre-headless)"
        warnings.warn(reason, UserWarning, stacklevel=1)
        pytest.skip(reason)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    sessions = SparkSessions(tmp_path_factory.mktemp("spark"))
    request.config.stash[SESSIONS] = sessions
    yield sessions
    sessions.stop()


@pytest.fixture
def spark(spark_sessions: SparkSessions) -> Any:
    """The session that tests share."""
    return spark_sessions.of(LOCAL)


@pytest.fixture
def spark_cluster(spark_sessions: SparkSessions) -> Iterator[Any]:
    """A session with two executors of one worker, each a process of its own.

    Where Java may start no thread, executors are replaced without end, or the driver is left half alive: neither gives
    an answer or an error, so that Java is ended at last.
    """
    session = spark_sessions.of("local-cluster[1,2,2048]")
    clock = threading.Timer(LONGEST, session.sparkContext._gateway.proc.kill)
    clock.daemon = True
    clock.start()
    yield session
    clock.cancel()


@pytest.fixture
def spark_connect(spark_sessions: SparkSessions) -> Iterator[Any]:
    """A session of Spark Connect, which has neither a context nor RDDs."""
    session = spark_sessions.remote()
    yield session
    session.stop()
