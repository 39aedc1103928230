"""The command line: `untruncated run | table | plot | docs | schema | status | verify | show`."""

import argparse
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Timer
from types import FrameType

from untruncated.basics.command_lines import EXPERIMENTS, default_results
from untruncated.basics.errors import SuiteError
from untruncated.basics.messages import Expendable, discard, fitted, keep_descriptors, tell
from untruncated.commands.arguments import parser
from untruncated.running.signals import Insistence, watched

# Seconds after which a signal is sent again that came where nothing can be raised.
AGAIN = 0.05


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code. What a user can act on is told in one message."""
    keep_descriptors()
    with redirect_stderr(Expendable(sys.stderr)), _terminable():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    options = argparse.Namespace(name="the command", log=None, experiments=EXPERIMENTS)
    try:
        parser().parse_args(arguments, options)
        _note(options.log, f"{options.name} started")
        text = io.StringIO()
        try:
            insistence = Insistence(options.name, partial(_note, options.log))
            with redirect_stdout(text), watched(insistence):
                code = COMMANDS[options.name](options) or 0
        except SystemExit as error:  # a stranger's code; what the suite ends with is returned
            raise SuiteError(f"a module ended the process (sys.exit({error.code!r}))") from error
        finally:
            _write(text.getvalue())
    except (KeyboardInterrupt, _Terminated) as stop:
        tell("error: stopped")
        _note(options.log, f"{options.name} stopped")
        return 128 + (signal.SIGTERM if isinstance(stop, _Terminated) else signal.SIGINT)
    except SuiteError as error:
        from untruncated.commands.advice import told
        from untruncated.experiments.finding import Runs

        text = told(error, Runs(options.experiments))
        tell(f"error: {text}")
        _note(options.log, f"{options.name} failed: {text}")
        return error.exit_code
    except OSError as error:  # a folder that may not be read, a file system that has gone
        text = f"{error.filename or options.name}: {error.strerror or error}"
        tell(f"error: {text}; check that it is there and may be read")
        _note(options.log, f"{options.name} failed:\n{traceback.format_exc()}")
        return 1
    except BaseException:
        _note(options.log, f"{options.name} broke off:\n{traceback.format_exc()}")
        raise
    _note(options.log, f"{options.name} ended")
    return code


class _Terminated(BaseException):
    """SIGTERM, as KeyboardInterrupt is SIGINT.

    Not that one itself: where it comes up inside of `exec`, as in dataclasses, Python remembers it
    and ends by SIGINT, whatever code the program returns.
    """


def _is_ignored(frame: FrameType | None) -> bool:
    """Whether Python ignores what is raised here: in a finaliser, or as garbage is collected."""
    while frame is not None:
        if frame.f_code.co_name in ("__del__", "_xla_gc_callback"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a command as SIGINT does, with a message and a note in the log."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets only the main thread set handlers
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if _is_ignored(frame):
            Timer(AGAIN, os.kill, (os.getpid(), number)).start()
        else:
            raise _Terminated(number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _write(text: str) -> None:
    """Prints a command's output; where a reader such as `head` has gone, as much as it took.

    Raises:
        SuiteError: The output cannot be written.
    """
    if sys.stdout is None:  # closed by whoever started this
        return
    try:
        sys.stdout.write(fitted(text, sys.stdout))
        sys.stdout.flush()
    except OSError as error:
        discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise SuiteError(f"the output cannot be written: {error.strerror}") from error


def _note(log: Path | None, text: str) -> None:
    """Adds a line with the time to the log, if there is one; a log is never worth failing for."""
    if log is None:
        return
    with suppress(OSError):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now().isoformat(timespec='seconds')} {text}\n")


def _results(options: argparse.Namespace, scale: str) -> Path:
    return options.results or Path(default_results(scale))


def _run(options: argparse.Namespace) -> int:
    from untruncated.basics.files import check_writable
    from untruncated.experiments.finding import Runs, find_run
    from untruncated.running.execute import execute

    spec, folder = find_run(options.spec, Runs(options.experiments))
    if options.results:
        folder = options.results / "runs"
    output = options.output or folder / f"{spec.hash}.json"
    check_writable(output)
    execute(
        spec,
        output,
        checkpoint_seconds=options.checkpoint_seconds,
        progress=not options.no_progress,
        force=options.force,
        last_words=partial(_note, options.log),
    )
    print(output)
    return 0


def _table(options: argparse.Namespace) -> int:
    from untruncated.basics.files import check_writable
    from untruncated.tables.panel_tables import write_table

    results = _results(options, options.scale)
    output = options.output or results / "tables" / options.scale / f"{options.panel}.csv"
    runs = options.runs or results / "runs"
    check_writable(output)
    write_table(options.panel, options.scale, options.experiments, runs, output)
    return 0


def _plot(options: argparse.Namespace) -> int:
    from untruncated.basics.matplotlib_settings import ignore_users_settings

    ignore_users_settings()
    from untruncated.basics.files import check_writable
    from untruncated.plots.figure import draw_figure

    tables = options.tables or _results(options, options.scale) / "tables" / options.scale
    for output in options.output:
        check_writable(output)
    draw_figure(options.figure, options.scale, options.experiments, tables, options.output)
    return 0


def _docs(options: argparse.Namespace) -> int:
    from untruncated.pages.render import write_pages

    tables = options.tables or _results(options, "small") / "tables" / "small"
    for path in write_pages(options.templates, tables, options.output):
        print(path)
    return 0


def _schema(options: argparse.Namespace) -> int:
    from untruncated.commands.describing import describe

    print(describe(options.output), end="")
    return 0


def _status(options: argparse.Namespace) -> int:
    from untruncated.commands.status import print_status

    results = _results(options, options.scale)
    return print_status(options.figure, options.scale, options.experiments, results)


def _verify(options: argparse.Namespace) -> int:
    from untruncated.commands.verifying import verify_results

    folder = (options.results or Path("results")) / "runs"
    return verify_results(folder, options.experiments, options.recompute)


def _show(options: argparse.Namespace) -> int:
    from untruncated.commands.showing import show

    lines = show(
        options.environment,
        options.policy,
        options.seed,
        options.steps,
        options.fidelity,
        options.output,
    )
    for line in lines:
        print(line)
    return 0


COMMANDS = {
    "run": _run,
    "table": _table,
    "plot": _plot,
    "docs": _docs,
    "schema": _schema,
    "status": _status,
    "verify": _verify,
    "show": _show,
}

if __name__ == "__main__":
    sys.exit(main())
