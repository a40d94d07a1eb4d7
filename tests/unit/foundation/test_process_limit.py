"""A machine that allows too few threads or processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading

import pytest

from bayeswise.foundation import process_limit
from bayeswise.foundation.errors import TooManyThreadsError
from tests.paths import GOLF


def test_whether_threads_can_be_started_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    assert process_limit._can_start(1)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert not process_limit._can_start(1)


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), BlockingIOError(11, "try again")])
def test_a_thread_or_process_that_cannot_be_started_is_a_typed_error(error: Exception) -> None:
    with pytest.raises(TooManyThreadsError, match="no further thread or process"), process_limit.starting():
        raise error


def test_another_error_stays_as_it_is() -> None:
    with pytest.raises(RuntimeError, match="other"), process_limit.starting():
        raise RuntimeError("other")


def as_a_user_with(processes: int) -> list[str]:
    """Words before a command that may start so few processes and threads; the limit does not hold for root."""
    limited = ["prlimit", f"--nproc={processes}:{processes}", "--"]
    if os.geteuid() != 0:
        return limited
    reading = "+dac_read_search"
    user = ["--reuid=65534", "--regid=65534", "--clear-groups", f"--inh-caps={reading}", f"--ambient-caps={reading}"]
    return ["setpriv", *user, *limited]


@pytest.mark.skipif(
    shutil.which("prlimit") is None or shutil.which("setpriv") is None, reason="needs the tools of util-linux"
)
def test_a_command_runs_where_no_second_thread_is_allowed() -> None:
    limited = as_a_user_with(1)
    if subprocess.run([*limited, sys.executable, "-c", "import bayeswise"], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let a test change its user")
    many = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    main = "import sys; from bayeswise.cli import main; sys.exit(main())"
    called = [*limited, sys.executable, "-c", main, "look", str(GOLF), "--target", "play"]
    answer = subprocess.run(called, capture_output=True, text=True, env=many)
    assert answer.returncode == 0, answer.stderr
    assert "14 rows" in answer.stdout
