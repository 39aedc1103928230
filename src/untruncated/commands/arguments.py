"""The arguments of the command line, and what it says of them."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from untruncated.basics.command_lines import EXPERIMENTS
from untruncated.basics.errors import SuiteError
from untruncated.catalogue.brax import BRAX

# Examples of each command; a test reads them all, and runs those that take no time.
EXAMPLES = {
    "run": ("untruncated run 1c87a2b6c57e113b",),
    "table": ("untruncated table rtu_figure2a",),
    "plot": ("untruncated plot rtu_figure7 --output figure7.png figure7.pdf",),
    "docs": ("untruncated docs",),
    "schema": ("untruncated schema",),
    "status": ("untruncated status figure2", "untruncated status rtu --scale paper"),
    "verify": ("untruncated verify", "untruncated verify --recompute 12"),
    "show": ("untruncated show CountRecallEasy --policy optimal --seed 3",),
}


class _Version(argparse.Action):
    """Prints what is running; found out only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        from untruncated.running.provenance import version

        print(version())
        parser.exit()


def _examples(commands: Sequence[str]) -> str:
    return "\n  ".join(["examples:", *(line for name in commands for line in EXAMPLES[name])])


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


def parser() -> argparse.ArgumentParser:
    """A parser that sets `name` to the command's name, beside the command's options."""
    parser = argparse.ArgumentParser(
        prog="untruncated",
        description="Runs of the RTU and PES papers' figures: computes, collects, draws, checks.",
        epilog=f"{_examples(tuple(EXAMPLES))}\n\nuntruncated <command> --help says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="print the versions of the suite and of jax, and the commit in a checkout",
    )
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
    run.add_argument(
        "--force", action="store_true", help="go on where a run needs more memory than there is"
    )
    run.set_defaults(name="run")

    table = commands.add_parser("table", help="collect the runs of a panel into a tidy CSV")
    table.add_argument("panel", help="e.g. rtu_figure2a")
    table.add_argument("--output", type=Path, help="default: <results>/tables/<scale>/<panel>.csv")
    table.add_argument("--runs", type=_folder, help="default: <results>/runs")
    table.set_defaults(name="table")

    plot = commands.add_parser("plot", help="draw a figure, or one panel, from its tables")
    plot.add_argument("figure", help="e.g. rtu_figure2 or rtu_figure2a")
    plot.add_argument("--tables", type=_folder, help="default: <results>/tables/<scale>")
    plot.add_argument("--output", type=Path, nargs="+", required=True, help="files to write")
    plot.set_defaults(name="plot")

    docs = commands.add_parser("docs", help="render the pages of docs/ from the tables")
    docs.add_argument("--tables", type=_folder, help="default: <results>/tables/small")
    docs.add_argument("--templates", type=_folder, default=Path("docs/templates"))
    docs.add_argument("--output", type=Path, default=Path("docs"), help="a folder; default: docs")
    docs.set_defaults(name="docs")

    schema = commands.add_parser(
        "schema", help="print the JSON schema of experiment files, by which editors check them"
    )
    schema.add_argument(
        "--output",
        type=Path,
        nargs="+",
        default=[],
        help="files to write: the schema, or where one ends in .md, the page of all fields",
    )
    schema.set_defaults(name="schema")

    status = commands.add_parser("status", help="list what is done, missing, diverged")
    status.add_argument("figure", nargs="?", help="e.g. figure2, rtu_figure2, rtu; default: all")
    status.set_defaults(name="status")

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
    verify.set_defaults(name="verify")

    show = commands.add_parser("show", help="show an environment at work")
    show.add_argument(
        "environment",
        help="trace_conditioning or three_state_mdp, as text with the best predictions; a game, "
        f"e.g. CountRecallEasy, as text; {', '.join(BRAX)}, as a web page",
    )
    show.add_argument("--policy", choices=("random", "optimal"), help="default: random")
    show.add_argument("--seed", type=int, default=0)
    show.add_argument("--steps", type=int, help="break off after so many; default: at the end")
    show.add_argument("--fidelity", help="exact (the default) or reference")
    show.add_argument("--output", type=Path, help="the web page; default: <environment>.html")
    show.set_defaults(name="show")

    for command in (run, table, plot, docs, status, verify):
        command.add_argument(
            "--results", type=_folder, help="default: results, at smoke results/smoke"
        )
    for command in (run, table, plot, status, verify):
        command.add_argument("--experiments", type=_folder, default=EXPERIMENTS)
    for command in (table, plot, status):
        command.add_argument(
            "--scale",
            default="small",
            help="smoke (few steps and seeds: shows in minutes that all works), small (the "
            "default: shorter runs and fewer seeds than the papers', whose results are included), "
            "medium (the papers' lengths with few step sizes and seeds; as small where a figure "
            "has no such numbers) or paper (the papers' lengths and numbers of seeds: many "
            "core-hours)",
        )
    for command in (run, table, plot, docs):
        command.add_argument("--log", type=Path, help="a file to note start, end and errors in")
    for name, command in commands.choices.items():
        command.epilog = _examples([name])
        command.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser
