"""`make peers`: scikit-learn's installed test suites, with our estimators in the place of its own.

    python tests/peers [SUITE ...]     all suites, or those whose path contains one of the words

The names are exchanged before the tests are imported; no code of scikit-learn is copied. A test that fails must match a
line of `not_applicable.py`, which says why it does not apply to us. Tests that fit none of ours are counted apart. An
error that a test expects must be of that type; its words are our own (what, where, what was found, how to fix it).
"""

from __future__ import annotations

import fnmatch
import importlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sklearn

from bayeswise.foundation.errors import BayeswiseError

sys.path.insert(0, str(Path(__file__).parent))
import adapters
from not_applicable import NOT_APPLICABLE, OTHER_CLASSES, SUITES

HOME = Path(sklearn.__file__).parent
_raises = pytest.raises


class RaisesInOurWords:
    """`pytest.raises` that compares the words of an error only where it is not one of ours."""

    def __init__(self, expected: Any, **given: Any) -> None:
        self._kinds = expected if isinstance(expected, tuple) else (expected,)
        self._strict = _raises(expected, **given)

    def __enter__(self) -> Any:
        self._found = self._strict.__enter__()
        return self._found

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if isinstance(error, BayeswiseError) and isinstance(error, self._kinds):
            self._found.fill_unfilled((kind, error, trace))
            return True
        return bool(self._strict.__exit__(kind, error, trace))


def raises(expected: Any, *called: Any, **given: Any) -> Any:
    """Stands for `pytest.raises` in the suites."""
    return _raises(expected, *called, **given) if called else RaisesInOurWords(expected, **given)


class Outcomes:
    """What became of each test; a pytest plugin."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.without_us = 0
        self.skipped = 0
        self.failed: dict[str, str] = {}

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        for module, names in _theirs.items():  # the suites have taken ours by now; scikit-learn itself keeps its own
            for name, theirs in names.items():
                setattr(importlib.import_module(module), name, theirs)
        items[:] = [each for each in items if not any(fnmatch.fnmatchcase(_name(each), line) for line in OTHER_CLASSES)]

    def pytest_runtest_setup(self, item: Any) -> None:
        adapters.USED.clear()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report = (yield).get_result()
        name = _name(item)
        if report.when == "call" and report.passed:
            if adapters.USED:
                self.passed.append(name)
            else:
                self.without_us += 1
        elif report.failed:
            self.failed.setdefault(name, str(call.excinfo.value).strip().split("\n")[0] if call.excinfo else "")
        elif report.skipped:
            self.skipped += 1

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)[-300:]


_theirs: dict[str, dict[str, Any]] = {}


def _name(item: Any) -> str:
    return str(item.nodeid).replace("\\", "/").removeprefix("sklearn/")


def main(words: list[str]) -> int:
    """Run the suites and tell what came out; 1 if a test failed for a reason that is not listed."""
    for module, classes in adapters.ADAPTERS.items():
        place = importlib.import_module(module)
        _theirs[module] = {each.__name__: getattr(place, each.__name__) for each in classes}
        for each in classes:
            setattr(place, each.__name__, each)
    pytest.raises = raises  # type: ignore[assignment]
    suites = [suite for suite in SUITES if not words or any(word in suite for word in words)]
    outcomes = Outcomes()
    quiet = ["-q", "--no-header", "--no-summary", "--tb=no", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    where = ["-c", "/dev/null", f"--rootdir={HOME}", f"--confcutdir={HOME}", "-W", "ignore"]
    pytest.main([*quiet, *where, *(str(HOME / suite) for suite in suites)], plugins=[outcomes])
    return reported(outcomes, whole=not words)


def reported(outcomes: Outcomes, *, whole: bool) -> int:
    """Print the counts: passed, not applicable by reason, failed."""
    reasons: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    unlisted: dict[str, str] = {}
    for name, message in outcomes.failed.items():
        pattern = next((line for line in NOT_APPLICABLE if fnmatch.fnmatchcase(name, line)), None)
        if pattern is None:
            unlisted[name] = message
        else:
            reasons[NOT_APPLICABLE[pattern]] += 1
            matched[pattern] += 1
    print(f"\nscikit-learn {sklearn.__version__}: {len(outcomes.passed)} tests passed with our estimators;", end=" ")
    print(f"{outcomes.without_us} fit none of them, {outcomes.skipped} were skipped by scikit-learn")
    print(f"not applicable: {sum(reasons.values())}")
    for reason, n in reasons.most_common():
        print(f"  {n:4}  {reason}")
    for pattern in NOT_APPLICABLE if whole else ():
        if not matched[pattern]:
            print(f"listed, and nothing fails: {pattern}")
    print(f"failed: {len(unlisted)}")
    for name, message in unlisted.items():
        print(f"  {name}\n        {message[:200]}")
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
