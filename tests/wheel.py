"""Installs a wheel where there is no compiler and runs the demo there: the end of `make wheel`.

`python tests/wheel.py FOLDER`, with one wheel and one source archive in it. Says what each weighs; the exit code says
whether all went well.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

BUNDLE = "bayeswise/workbench/bundle/index.html"
EXAMPLES = Path(__file__).parents[1] / "examples"
MODEL = "golf.bayeswise"
DEMO = (
    ("--version",),
    ("look", "golf.csv", "--target", "play"),
    ("fit", "golf.csv", "--target", "play", "--model", "naive-bayes", "--output", MODEL),
    ("explain", MODEL, "--row", "outlook=sunny", "temperature=cool", "humidity=high", "wind=strong"),
    ("predict", MODEL, "golf-tomorrow.csv", "--proba"),
    ("decide", MODEL, "golf-tomorrow.csv", "--costs", "golf.toml"),
    ("serve", "--help"),
)


def built(folder: Path, pattern: str) -> Path:
    """The one file of a kind."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} files {pattern}; one is expected")
    return found[0]


def check_contents(wheel: Path, archive: Path) -> None:
    """Both have the page of the workbench, and the wheel says that it runs on other machines."""
    with zipfile.ZipFile(wheel) as inside:
        names = inside.namelist()
    with tarfile.open(archive) as inside_archive:
        sources = inside_archive.getnames()
    for path, found in ((wheel, names), (archive, sources)):
        if not any(name.endswith(BUNDLE) for name in found):
            sys.exit(f"{path.name} has no {BUNDLE}")
    if not any(name.endswith("kernels/common/module.cpp") for name in sources):
        sys.exit(f"{archive.name} has no kernels")
    if sys.platform == "linux" and "manylinux" not in wheel.name:
        sys.exit(f"{wheel.name} is not for other machines than this")


def without_compiler(folder: Path, home: Path) -> dict[str, str]:
    """An environment whose PATH has nothing but the commands of a virtual environment."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "LANG", "LC_"))}
    return {**kept, "PATH": str(folder / "bin"), "HOME": str(home), "CC": "/none", "CXX": "/none"}


def run_there(wheel: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="bayeswise-wheel-") as name:
        folder, work = Path(name) / "venv", Path(name) / "work"
        venv.create(folder, with_pip=True)
        work.mkdir()
        for each in EXAMPLES.glob("golf*"):
            (work / each.name).write_bytes(each.read_bytes())
        environment = without_compiler(folder, work)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--only-binary=:all:", f"{wheel.resolve()}[web]"], env=environment, cwd=work, check=True)
        for words in DEMO:
            print("$ bayeswise", *words, flush=True)
            subprocess.run([folder / "bin" / "bayeswise", *words], env=environment, cwd=work, check=True)


def main() -> None:
    folder = Path(sys.argv[1])
    wheel, archive = built(folder, "*.whl"), built(folder, "*.tar.gz")
    check_contents(wheel, archive)
    run_there(wheel)
    for path in (wheel, archive):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    print("Installed and run without a compiler.")


if __name__ == "__main__":
    main()
