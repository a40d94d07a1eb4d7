"""One session of Spark for all tests, on two executors with a process each; Java is looked for as the docs say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

LEAST_JAVA = 17


def java_version(java: str) -> int:
    """The main version of a java; 0 if it cannot be run."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', shown)
    return int(found[1]) if found else 0


def find_java() -> str | None:
    """Java 17 or later: that of JAVA_HOME, else on the PATH, else Debian's where this user may install it."""
    home = os.environ.get("JAVA_HOME")
    for java in (f"{home}/bin/java" if home else None, shutil.which("java")):
        if java and java_version(java) >= LEAST_JAVA:
            return java
    if os.geteuid() == 0 and shutil.which("apt-get"):
        command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "openjdk-17-jre-headless"]
        subprocess.run(command, capture_output=True, timeout=600, check=False)
        java = shutil.which("java")
        if java and java_version(java) >= LEAST_JAVA:
            return java
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two executors, each a process of its own."""
    if find_java() is None:
        reason = f"SPARK IS NOT TESTED: no Java {LEAST_JAVA} (set JAVA_HOME, or install openjdk-17-jre-headless)"
        warnings.warn(reason, UserWarning, stacklevel=1)
        pytest.skip(reason)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = tmp_path_factory.mktemp("spark")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[3]),
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("bayeswise tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
