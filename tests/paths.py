"""Where the tests find the project's files, and the public networks that may lie beside the project."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
GOLF = EXAMPLES / "golf.csv"
PUBLIC_NETWORKS = ROOT.parent / "shared" / "networks"
