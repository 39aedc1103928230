"""The command line: `untruncated run | table | plot | docs | status | verify | show`."""

import argparse
import io
import math
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from datetime import datetime
from pathlib import Path

from untruncated.suite.commands import EXPERIMENTS, default_results
from untruncated.suite.errors import SuiteError
from untruncated.suite.messages import Expendable, discard, fitted, keep_descriptors, tell


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code. What a user can act on is told in one message."""
    keep_descriptors()
    with redirect_stderr(Expendable(sys.stderr)), _terminable():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    options = argparse.Namespace(name="the command", log=None, experiments=EXPERIMENTS)
    try:
        _parser().parse_args(arguments, options)
        _note(options.log, f"{options.name} started")
        text = io.StringIO()
        try:
            with redirect_stdout(text):
                code = options.command(options) or 0
        except SystemExit as error:  # a stranger's code; what the suite ends with is returned
            raise SuiteError(f"a module ended the process (sys.exit({error.code!r}))") from error
        finally:
            _write(text.getvalue())
    except KeyboardInterrupt as stop:
        tell("error: stopped")
        _note(options.log, f"{options.name} stopped")
        return 128 + (stop.args[0] if stop.args else signal.SIGINT)
    except SuiteError as error:
        from untruncated.suite.advice import told
        from untruncated.suite.finding import Runs

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


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a command as SIGINT does, with a message and a note in the log."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets only the main thread set handlers
        return

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt(number)

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


def _folder(text: str) -> Path:
    """A folder that is named: an empty text would be the current one."""
    if not text:
        raise SuiteError("a folder with an empty name was given; name one, or leave the option out")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise SuiteError(f"{text}: {error}") from error


def _count(text: str) -> int:
    """A whole number from 1 on."""
    count = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")
    return count


def _seconds(text: str) -> float:
    """Seconds, none of them negative."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds from 0 on, not {text!r}")
    return seconds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="untruncated", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    run = commands.add_parser("run", help="compute one run and write its result file")
    run.add_argument("spec", help="JSON, a file with a spec or a result, or a run's hash")
    run.add_argument("--output", type=Path, help="default: <results>/runs/<hash>.json")
    run.add_argument(
        "--checkpoint-seconds",
        type=_seconds,
        default=30.0,
        metavar="S",
        help="the least time between two checkpoints; default: 30",
    )
    run.add_argument("--no-progress", action="store_true", help="show no progress bar")
    run.set_defaults(command=_run, name="run")

    table = commands.add_parser("table", help="collect the runs of a panel into a tidy CSV")
    table.add_argument("panel", help="e.g. rtu_figure2a")
    table.add_argument("--output", type=Path, help="default: <results>/tables/<scale>/<panel>.csv")
    table.add_argument("--runs", type=_folder, help="default: <results>/runs")
    table.set_defaults(command=_table, name="table")

    plot = commands.add_parser("plot", help="draw a figure, or one panel, from its tables")
    plot.add_argument("figure", help="e.g. rtu_figure2 or rtu_figure2a")
    plot.add_argument("--tables", type=_folder, help="default: <results>/tables/<scale>")
    plot.add_argument("--output", type=Path, nargs="+", required=True, help="files to write")
    plot.set_defaults(command=_plot, name="plot")

    docs = commands.add_parser("docs", help="render the pages of docs/ from the tables")
    docs.add_argument("--tables", type=_folder, help="default: <results>/tables/small")
    docs.add_argument("--templates", type=_folder, default=Path("docs/templates"))
    docs.add_argument("--output", type=Path, default=Path("docs"), help="a folder; default: docs")
    docs.set_defaults(command=_docs, name="docs")

    status = commands.add_parser("status", help="list what is done, missing, diverged")
    status.add_argument("figure", nargs="?", help="e.g. figure2, rtu_figure2, rtu; default: all")
    status.set_defaults(command=_status, name="status")

    verify = commands.add_parser(
        "verify",
        help="check every result file",
        description="Checks every result file, and names those made under settings of jax that "
        "round in another way.",
    )
    verify.add_argument(
        "--recompute",
        type=_count,
        default=0,
        metavar="N",
        help="compute the first chunk of N runs again, of every program at least one, and compare "
        "the first points of their curves: a half of them must agree to 1 percent and each to 30 "
        "percent, since learning makes rounding on another machine grow",
    )
    verify.set_defaults(command=_verify, name="verify")

    show = commands.add_parser("show", help="show an environment at work")
    show.add_argument(
        "environment",
        help="trace_conditioning or three_state_mdp, as text with the best predictions; a game, "
        "e.g. CountRecallEasy, as text; ant-P, ant-V, halfcheetah-P, halfcheetah-V, hopper-P, "
        "hopper-V, walker2d-P, walker2d-V or reacher, as a web page",
    )
    show.add_argument("--policy", choices=("random", "optimal"), help="default: random")
    show.add_argument("--seed", type=int, default=0)
    show.add_argument("--steps", type=int, help="break off after so many; default: at the end")
    show.add_argument("--fidelity", help="exact (the default) or reference")
    show.add_argument("--output", type=Path, help="the web page; default: <environment>.html")
    show.set_defaults(command=_show, name="show")

    for command in (run, table, plot, docs, status, verify):
        command.add_argument(
            "--results", type=_folder, help="default: results, at smoke results/smoke"
        )
    for command in (run, table, plot, status, verify):
        command.add_argument("--experiments", type=_folder, default=EXPERIMENTS)
    for command in (table, plot, status):
        command.add_argument("--scale", default="small")
    for command in (run, table, plot, docs):
        command.add_argument("--log", type=Path, help="a file to note start, end and errors in")
    return parser


def _results(options: argparse.Namespace, scale: str) -> Path:
    return options.results or Path(default_results(scale))


def _run(options: argparse.Namespace) -> int:
    from untruncated.suite.execute import execute
    from untruncated.suite.files import check_writable
    from untruncated.suite.finding import Runs, find_run

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
    )
    print(output)
    return 0


def _table(options: argparse.Namespace) -> int:
    from untruncated.suite.files import check_writable
    from untruncated.suite.tables import write_table

    results = _results(options, options.scale)
    output = options.output or results / "tables" / options.scale / f"{options.panel}.csv"
    runs = options.runs or results / "runs"
    check_writable(output)
    write_table(options.panel, options.scale, options.experiments, runs, output)
    return 0


def _plot(options: argparse.Namespace) -> int:
    from untruncated.suite.matplotlib_settings import ignore_users_settings

    ignore_users_settings()
    from untruncated.plots.figure import draw_figure
    from untruncated.suite.files import check_writable

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


def _status(options: argparse.Namespace) -> int:
    from untruncated.suite.status import print_status

    results = _results(options, options.scale)
    return print_status(options.figure, options.scale, options.experiments, results)


def _verify(options: argparse.Namespace) -> int:
    from untruncated.suite.verifying import verify_results

    folder = (options.results or Path("results")) / "runs"
    return verify_results(folder, options.experiments, options.recompute)


def _show(options: argparse.Namespace) -> int:
    from untruncated.showing import show

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


if __name__ == "__main__":
    sys.exit(main())
