"""A file is there whole or not at all, whatever happens while it is written."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayeswise.foundation.atomic import replacing, replacing_text, write_bytes
from bayeswise.foundation.errors import BayeswiseError, StoreError, UsageError, legible

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")


@pytest.fixture(autouse=True)
def one_way_to_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests watch `os.fsync`; macOS has a call of its own."""
    if sys.platform == "darwin":
        monkeypatch.setattr(sys, "platform", "linux")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["model"]


def test_text_keeps_its_line_ends_and_is_utf_8(tmp_path: Path) -> None:
    with replacing_text(tmp_path / "out.csv") as file:
        file.write("größe,\U0001f600\r\n1\n")
    assert (tmp_path / "out.csv").read_bytes() == "größe,\U0001f600\r\n1\n".encode()


@pytest.mark.parametrize("error", [ValueError("bad row"), KeyboardInterrupt(), SystemExit(3), OSError(5, "io")])
@pytest.mark.parametrize("opened", [replacing, replacing_text])
def test_nothing_happens_when_the_writer_fails(
    tmp_path: Path, opened: Callable[..., Any], error: BaseException
) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught, opened(path) as file:
        file.write("half" if opened is replacing_text else b"half")
        raise error
    assert caught.value is error
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_ctrl_c_in_a_system_call_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def interrupted(*arguments: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "model", b"new")
    monkeypatch.undo()
    assert names(tmp_path) == []


def test_the_content_reaches_the_disk_before_the_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened = []
    sync, replace = os.fsync, os.replace

    def log_sync(number: int) -> None:
        happened.append("directory" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        sync(number)

    def log_replace(source: Any, target: Any) -> None:
        happened.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", log_sync)
    monkeypatch.setattr(os, "replace", log_replace)
    write_bytes(tmp_path / "model", b"new")
    assert happened == (["file", "name"] if os.name == "nt" else ["file", "name", "directory"])


def test_without_a_way_to_sync_a_directory_the_file_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    write_bytes(tmp_path / "model", b"new")
    assert (tmp_path / "model").read_bytes() == b"new"


# -- like open ----------------------------------------------------------------------------------------------
@posix
def test_a_new_file_has_the_permissions_of_the_umask_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "new", b"1")
        (tmp_path / "old").touch()
        (tmp_path / "old").chmod(0o604)
        write_bytes(tmp_path / "old", b"2")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "new"), mode(tmp_path / "old")) == (0o640, 0o604)


@posix
def test_a_link_stays_and_the_file_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "model").write_bytes(b"old")
    (tmp_path / "link").symlink_to("far/model")
    (tmp_path / "dangling").symlink_to("far/absent")
    write_bytes(tmp_path / "link", b"new")
    write_bytes(tmp_path / "dangling", b"made")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "model").read_bytes() == b"new"
    assert (tmp_path / "far" / "absent").read_bytes() == b"made"
    assert names(tmp_path / "far") == ["absent", "model"]


@posix
def test_what_is_not_a_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    write_bytes("/dev/null", b"anything")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_bytes(tmp_path / "pipe", b"through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_the_longest_name_that_a_file_may_have_is_enough(tmp_path: Path) -> None:
    write_bytes(tmp_path / ("a" * 250), b"new")
    assert len(names(tmp_path)) == 1


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_bytes("model", b"new")
    assert names(tmp_path) == ["model"]


# -- what cannot be written ---------------------------------------------------------------------------------
def refused(path: Path | str, kind: type[BayeswiseError], match: str) -> None:
    with pytest.raises(kind, match=match) as caught:
        write_bytes(path, b"new")
    assert str(caught.value).startswith(legible(f"cannot write {os.fspath(path)!r}: "))


def test_a_path_that_can_be_no_file_is_a_usage_error(tmp_path: Path) -> None:
    refused(tmp_path, UsageError, "it is a directory. Fix: add the name of a file")
    refused(f"{tmp_path}/", UsageError, "it is a directory")
    refused(f"{tmp_path}/absent/", UsageError, "it names no file")
    refused("", UsageError, "it names no file")
    refused(tmp_path / "absent" / "model", UsageError, "there is no directory .*absent'. Fix: create it first")
    refused(f"{tmp_path}/a\0b", UsageError, "null")
    (tmp_path / "file").touch()
    refused(tmp_path / "file" / "model", BayeswiseError, "(?i)directory")
    assert names(tmp_path) == ["file"]


@posix
def test_a_link_that_leads_in_a_circle_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    refused(tmp_path / "a", UsageError, "symbolic links")


@posix
def test_a_file_name_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    refused(tmp_path / ("a" * 1000), UsageError, "too long")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="only Linux has such a folder")
def test_a_folder_that_takes_no_files_is_a_usage_error_like_one_that_is_not_there() -> None:
    refused("/proc/x.csv", UsageError, "Fix: choose another")


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_directory_that_is_write_protected_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*arguments: Any) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", fail)
    refused(tmp_path / "model", UsageError, "its directory is write-protected. Fix: choose another")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_permissions_are_respected(tmp_path: Path) -> None:
    (tmp_path / "file").touch(0o400)
    refused(tmp_path / "file", UsageError, "the file is write-protected")
    (tmp_path / "folder").mkdir(0o500)
    refused(tmp_path / "folder" / "model", UsageError, "its directory is write-protected")


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def fail(*arguments: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    refused(path, StoreError, "the disk is full.*nothing was changed. Fix: free some space")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["model"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_an_error() -> None:
    refused("/dev/full", StoreError, "the disk is full")


TOO_LARGE = """
import resource, sys
from bayeswise.foundation.atomic import replacing_text
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with replacing_text(sys.argv[1]) as file:
    for n in range(100_000):
        file.write(f"row {n}\\n")
"""


@posix
def test_a_disk_that_fills_up_in_the_middle_of_a_table_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    answer = subprocess.run([sys.executable, "-c", TOO_LARGE, path], capture_output=True, text=True)
    assert answer.stderr.splitlines()[-1].startswith("bayeswise.foundation.errors.StoreError: cannot write")
    assert "Exception ignored" not in answer.stderr
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["out.csv"]


def left_behind(folder: Path, token: str, age: float = 3600.0) -> Path:
    path = folder / f".bayeswise-{token}.partial"
    path.write_bytes(b"half")
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_what_a_kill_left_is_cleaned_up_by_the_next_writer(tmp_path: Path) -> None:
    stale = left_behind(tmp_path, "0123456789abcdef")
    fresh = left_behind(tmp_path, "1123456789abcdef", age=1.0)
    others = [left_behind(tmp_path, "notes"), tmp_path / "mine.partial", tmp_path / ".bayeswise-0123.partial.txt"]
    for path in others[1:]:
        path.write_bytes(b"mine")
    write_bytes(tmp_path / "model", b"whole")
    assert not stale.exists()
    assert names(tmp_path) == sorted(["model", fresh.name, *(path.name for path in others)])


@posix
def test_a_file_that_is_being_written_for_hours_stays(tmp_path: Path) -> None:
    with replacing(tmp_path / "slow") as slow:
        slow.write(b"half")
        slow.flush()
        (partial,) = tmp_path.glob(".bayeswise-*.partial")
        os.utime(partial, (0, 0))
        write_bytes(tmp_path / "other", b"whole")
        assert partial.exists()
    assert (tmp_path / "slow").read_bytes() == b"half"


@posix
def test_a_killed_writer_leaves_nothing_in_the_end(tmp_path: Path) -> None:
    code = "import os, sys; from bayeswise.foundation.atomic import replacing\nwith replacing(sys.argv[1]): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "m"], check=False).returncode == 9
    (partial,) = tmp_path.glob(".bayeswise-*.partial")
    os.utime(partial, (0, 0))
    write_bytes(tmp_path / "m", b"whole")
    assert names(tmp_path) == ["m"]
