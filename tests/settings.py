"""Runs the tests where rounding and timing differ: `make settings`, or `python tests/settings.py NAME ... -- WORDS`.

One line for each run, with what pytest counted; the exit code says whether all of them passed. OpenBLAS and NumPy are
set to use the code of other processors, our kernels other instruction sets, one run has eight busy processes beside
it, and one may have 256 processes and threads and 8 GB of memory. Settings joined by `+` share a run: `zen+plain+busy`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

SETTINGS: dict[str, dict[str, str]] = {
    "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "skylake": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "zen": {"OPENBLAS_CORETYPE": "Zen"},
    "two-threads": {"OPENBLAS_NUM_THREADS": "2"},
    "numpy-baseline": {"NPY_DISABLE_CPU_FEATURES": "@numpy"},
    "plain": {"BAYESWISE_ISA": "plain"},
    "avx2": {"BAYESWISE_ISA": "avx2"},
    "avx512": {"BAYESWISE_ISA": "avx512"},
    "busy": {},
    "few-processes": {},
}
BUSY = 8
PROCESSES = 256  # and threads
MEMORY = 8 << 30


def numpy_features() -> str:
    """All that NumPy found beyond its baseline, so that it can be disabled."""
    import numpy as np

    core = getattr(np, "_core", None) or np.core  # type: ignore[attr-defined]
    features = core._multiarray_umath.__cpu_features__
    return " ".join(name for name in core._multiarray_umath.__cpu_dispatch__ if features[name])


def environment(joined: str) -> dict[str, str]:
    chosen = {name: value for setting in joined.split("+") for name, value in SETTINGS[setting].items()}
    return {name: numpy_features() if value == "@numpy" else value for name, value in chosen.items()}


def can_run(variables: dict[str, str]) -> bool:
    from bayeswise import _kernels

    return variables.get("BAYESWISE_ISA", "plain") in _kernels.available_isas()


def parent_group(controller: str) -> Path:
    """The control group that limits this process, below which another may be made; in version 2, one that shares."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    for _, controllers, path in lines:
        if controller in controllers.split(","):
            return Path(f"/sys/fs/cgroup/{controller}{path}")
    own = Path(f"/sys/fs/cgroup{next(path for number, _, path in lines if number == '0')}")
    for group in (own, *own.parents):
        if controller in (group / "cgroup.subtree_control").read_text().split():
            return group
    raise FileNotFoundError(f"no control group for {controller}")


@contextmanager
def few_processes() -> Iterator[list[Path]]:
    """Control groups for what is started: one, or one for each controller where these are apart."""
    made = {name: parent_group(name) / f"bayeswise-tests-{os.getpid()}" for name in ("pids", "memory")}
    groups = list(dict.fromkeys(made.values()))
    try:
        for group in groups:
            group.mkdir()
        (made["pids"] / "pids.max").write_text(str(PROCESSES))
        limit = made["memory"] / "memory.limit_in_bytes"  # of version 1
        (limit if limit.exists() else limit.with_name("memory.max")).write_text(str(MEMORY))
        yield groups
    finally:
        for group in filter(Path.exists, groups):
            for _ in range(100):  # the last process may be about to end
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)


def run(joined: str, arguments: Sequence[str]) -> bool:
    with ExitStack() as limits:
        try:
            groups = limits.enter_context(few_processes()) if "few-processes" in joined.split("+") else []
        except OSError as error:
            print(f"{joined:15} not on this machine: {error}", flush=True)
            return True
        return run_in(groups, joined, arguments)


def run_in(groups: Sequence[Path], joined: str, arguments: Sequence[str]) -> bool:
    variables = environment(joined)
    if not can_run(variables):
        print(f"{joined:15} not on this processor", flush=True)
        return True
    log = Path("build") / f"settings-{joined}.log"
    log.parent.mkdir(exist_ok=True)
    n_busy = BUSY if "busy" in joined.split("+") else 0
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_busy)]

    def enter() -> None:
        for group in groups:
            (group / "cgroup.procs").write_text("0")

    began = time.monotonic()
    try:
        with log.open("wb") as out:
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-vv", "--verbosity=0", *arguments]
            code = subprocess.run(
                command, env={**os.environ, **variables}, stdout=out, stderr=out, check=False, preexec_fn=enter
            ).returncode
    finally:
        for process in busy:
            process.kill()
            process.wait()
    lines = log.read_text(errors="replace").splitlines()
    counts = next((line.strip("= ") for line in reversed(lines) if " passed" in line or " failed" in line), "no counts")
    took = f"{time.monotonic() - began:.0f} s"
    for peak in [group / "pids.peak" for group in groups if (group / "pids.peak").exists()]:
        took += f", at most {peak.read_text().strip()} processes and threads"
    print(f"{joined:15} {'ok' if code == 0 else 'FAILED'}  {counts}  ({took}, {log})", flush=True)
    for line in lines if code else []:
        if line.startswith(("FAILED", "ERROR")):
            print(f"    {line}", flush=True)
    return code == 0


def main(words: Sequence[str]) -> int:
    cut = list(words).index("--") if "--" in words else len(words)
    names, arguments = list(words[:cut]) or list(SETTINGS), list(words[cut + 1 :])
    unknown = [name for joined in names for name in joined.split("+") if name not in SETTINGS]
    if unknown:
        print(f"there is no setting {unknown[0]!r}; there are {', '.join(SETTINGS)}", file=sys.stderr)
        return 2
    passed = [run(joined, arguments) for joined in names]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
