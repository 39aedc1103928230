"""The commands that error messages name: each can be copied to a shell, whatever the paths."""

import re
import shlex
from contextlib import suppress
from pathlib import Path

EXPERIMENTS = Path("experiments")
_LETTER_FIRST = re.compile(r"[A-Za-z][\w./-]*", re.ASCII)
_NO_TEXT = re.compile(r"nan|inf|infinity|true|false", re.IGNORECASE)
# What YAML takes out of a text, or for more than a text.
_MANGLED = re.compile(r"^\s|[\s:]$|:\s|\s#")
# What Snakemake takes for a pattern or an option, or does not quote.
NO_FOLDER = re.compile(r"""[{}'"\x00-\x1f\x7f]|^[-~]""")


def default_results(scale: str) -> str:
    """Where results go: smoke runs prove that all works, their numbers are not worth keeping."""
    return "results/smoke" if scale == "smoke" else "results"


def compute_run(path: Path, experiments: Path = EXPERIMENTS) -> str:
    """The command that computes the run whose result file is `path`, and replaces it when done."""
    return shlex.join(["untruncated", "run", _argument(path), *_experiments(experiments)])


def collect_table(path: Path, scale: str, experiments: Path = EXPERIMENTS) -> str:
    """The command that makes the table `<results>/tables/<scale>/<panel>.csv` again.

    A table that lies elsewhere is made of the scale's default results.
    """
    path = from_here(path)
    command = ["untruncated", "table", path.stem]
    if scale != "small":
        command += ["--scale", scale]
    if path.parts[-3:-1] != ("tables", scale):
        command += ["--output", _argument(path)]
    elif path.parents[2] != Path(default_results(scale)):
        command += ["--results", _argument(path.parents[2])]
    return shlex.join([*command, *_experiments(experiments)])


def compute_panel(name: str, scale: str, results: Path, experiments: Path = EXPERIMENTS) -> str:
    """The command that computes what is missing of a panel, and draws it.

    Raises:
        ValueError: Snakemake cannot be told one of the folders.
    """
    config = [] if scale == "small" else [f"scale={scale}"]
    if from_here(results) != Path(default_results(scale)):
        config.append(f"results={config_text(from_here(results))}")
    if from_here(experiments) != EXPERIMENTS:
        config.append(f"experiments={config_text(from_here(experiments))}")
    return shlex.join(["snakemake", name, *(["--config", *config] if config else [])])


def config_text(path: Path) -> str:
    """A path as a value for Snakemake's --config, which takes 2026_11 for a number.

    Raises:
        ValueError: No way to write it comes through.
    """
    text = str(path)
    if not path.is_absolute() and (not _LETTER_FIRST.fullmatch(text) or _NO_TEXT.fullmatch(text)):
        text = f"./{text}"
    if NO_FOLDER.search(str(path)) or _MANGLED.search(text):
        raise ValueError(f"{text!r} cannot be given to Snakemake")
    return text


def from_here(path: Path) -> Path:
    """The path relative to the current folder, if it lies in or below it."""
    with suppress(ValueError):
        return path.resolve().relative_to(Path.cwd())
    return path


def _argument(path: Path) -> str:
    """The path as an argument that is no option."""
    text = str(from_here(path))
    return f"./{text}" if text.startswith("-") else text


def _experiments(folder: Path) -> list[str]:
    return [] if from_here(folder) == EXPERIMENTS else ["--experiments", _argument(folder)]
