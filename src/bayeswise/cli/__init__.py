"""The command line: one file per verb, data on stdout, everything else on stderr.

app.py     the table of verbs, and an application that imports only the one that was typed
commands/  one file for each verb, with a function `run` whose signature is the command's
options/   options that several verbs have, and how they are read
output/    what verbs print and write

Exit codes: 0 done, 1 bug, 2 usage, 3 data cannot be read, 4 model and data do not fit, 5 a check failed,
130 interrupted (143 by SIGTERM, 129 by SIGHUP).
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from bayeswise.foundation.errors import BayeswiseError, DataError, legible
from bayeswise.foundation.process_limit import keep_to_process_limit, refused_thread
from bayeswise.foundation.threads import let_idle_threads_sleep
from bayeswise.render.terminal import write_what_the_terminal_can

__all__ = ["main"]


VERBOSE = ("-v", "--verbose")
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["--version"])
    bayeswise ...
    0
    """
    words, verbose = without_verbose(sys.argv[1:] if arguments is None else arguments)
    write_what_the_terminal_can()
    if "_BAYESWISE_COMPLETE" in os.environ:  # a shell that completes a line shows nothing but words
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 (until the process ends)
    try:
        with leaving_in_order(), collecting_rarely(ends=arguments is None):
            keep_to_process_limit()
            let_idle_threads_sleep()
            check_instruction_set()
            code = run(words, verbose)
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return 0
    except BayeswiseError as error:
        print_error(message_for(error, words), verbose)
        return error.exit_code
    except KeyboardInterrupt:
        begin = "\n" if sys.stderr is not None and sys.stderr.isatty() else ""  # after the ^C that a terminal shows
        print(f"{begin}bayeswise: interrupted", file=sys.stderr)
        return INTERRUPTED
    except SystemExit as stop:  # a signal that came outside of the verb
        return stop.code if isinstance(stop.code, int) else 1
    except Exception as error:
        if is_full(error):
            silence_stdout()
            print_error("cannot write to standard output: the disk is full. Fix: free some space.", verbose)
            return DataError.exit_code
        if (refused := refused_thread(error)) is not None:
            print_error(f"{refused}", verbose)
            return refused.exit_code
        print_error(legible(f"this is a bug: {type(error).__name__}: {error}"), verbose)
        if not verbose:
            print("Add -v to see where it happened, and please report it.", file=sys.stderr)
        return 1
    return code


def message_for(error: BayeswiseError, words: Sequence[str]) -> str:
    """The message, its fix in words that can be typed."""
    if error.fix is None or "=" not in error.fix:
        return str(error)
    from bayeswise.cli.output.fixes import options_of, typed_fix

    fix = typed_fix(error.fix, options_of(words), lambda: options_of(["fit"]))
    return str(error).replace(error.fix, fix)


def check_instruction_set() -> None:
    """Refuse a BAYESWISE_ISA that cannot run here before anything is read or written."""
    if os.environ.get("BAYESWISE_ISA"):
        from bayeswise import _kernels

        _kernels.isa()


def run(words: Sequence[str], verbose: bool = False) -> int:
    """Hand the words to typer and turn its way of stopping into a number."""
    from bayeswise.cli.app import application

    try:
        application(words, verbose)(list(words), prog_name="bayeswise")
    except SystemExit as stop:
        # typer answers a closed pipe by a quiet exit 1; a reader that has seen enough is not a failure
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        if stop.code == INTERRUPTED:  # typer answers Ctrl-C by this code without a word
            raise KeyboardInterrupt from None
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def without_verbose(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Take -v out from anywhere before `--`, so that it can be appended to a command that failed.

    >>> without_verbose(["look", "-v", "golf.csv"])
    (['look', 'golf.csv'], True)
    >>> without_verbose(["look", "--", "-v"])
    (['look', '--', '-v'], False)
    """
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    kept = [word for word in words[:end] if word not in VERBOSE]
    return kept + words[end:], len(kept) < end


def print_error(message: str, verbose: bool) -> None:
    """Print on stderr what went wrong, after the traceback if `verbose`."""
    if verbose:
        traceback.print_exc()
    print(f"bayeswise: {message}", file=sys.stderr)


def is_full(error: Exception) -> bool:
    """Whether standard output takes no more; files of our own say so in other words."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG) and error.filename is None


def silence_stdout() -> None:
    """Let the interpreter flush into nothing at exit once the reader of a pipe is gone."""
    with contextlib.suppress(OSError, ValueError):  # a stdout replaced in this process has no file number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def collecting_rarely(*, ends: bool) -> Iterator[None]:
    """Look for garbage in cycles only now and then: imports make many objects, and hardly one that can be freed.

    A process that `ends` with the command is not searched for garbage after it.
    """
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        if ends:
            gc.freeze()
        gc.set_threshold(*before)


_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def leaving_in_order() -> Iterator[None]:
    """Turn signals to end into `SystemExit`, with the exit code that a shell would give; ignored ones stay ignored."""
    if threading.current_thread() is not threading.main_thread():  # no other thread may handle signals
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    ours = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, _leave)
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _leave(number: int, frame: FrameType | None) -> None:
    for each in _ENDING:  # a second one must not stop the tidying up
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)
