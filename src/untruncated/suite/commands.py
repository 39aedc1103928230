"""The Snakemake commands that error messages name."""

import shlex
from contextlib import suppress
from pathlib import Path


def default_results(scale: str) -> str:
    """Where results go: smoke runs prove that all works, their numbers are not worth keeping."""
    return "results/smoke" if scale == "smoke" else "results"


def rebuild_run(path: Path) -> str:
    """The command that computes `<results>/runs/<hash>.json` again."""
    path = _from_here(path)
    results = str(path.parents[1]) if path.parent.name == "runs" else "results"
    scale = "smoke" if results == default_results("smoke") else "small"
    return _rebuild(path, results, scale)


def rebuild_table(path: Path, scale: str) -> str:
    """The command that makes `<results>/tables/<scale>/<panel>.csv` again."""
    path = _from_here(path)
    lies_there = path.parent.parent.name == "tables"
    results = str(path.parents[2]) if lies_there else default_results(scale)
    return _rebuild(path, results, scale)


def _from_here(path: Path) -> Path:
    """The path as Snakemake names it, if it lies in or below the current folder."""
    with suppress(ValueError):
        return path.resolve().relative_to(Path.cwd())
    return path


def _rebuild(path: Path, results: str, scale: str) -> str:
    config = [] if scale == "small" else [f"scale={scale}"]
    if results != default_results(scale):
        config.append(f"results={results}")
    return shlex.join(["snakemake", "-f", str(path), *(["--config", *config] if config else [])])
