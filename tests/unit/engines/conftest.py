"""One session of Spark for all tests, on two executors with a process each; Java is looked for as the docs say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bayeswise.engines.spark import LEAST_JAVA, check_java, java_version
from bayeswise.foundation.errors import NotInstalledError


def find_java() -> bool:
    """Whether there is a Java that is new enough; Debian's is installed where this user may do that."""
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


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two executors, each a process of its own."""
    if not find_java():
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
