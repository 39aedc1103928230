"""A project of one small figure, and how tests call Snakemake in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "environment.yml", "profiles")
PLOT = {"name": "sweep_lines", "x": "parameters", "x_label": "parameters"}


def small_figure(curves: dict[str, Any], scale: dict[str, Any], **panel: Any) -> dict[str, Any]:
    """An experiment file's content: one panel of TD learners, the same at every scale."""
    return {
        "paper": "rtu",
        "title": "A small figure",
        "shared": {
            "program": "online_prediction",
            "environment": {"name": "trace_conditioning"},
            "learner": {"name": "td"},
        },
        "seeds": {"tuning": 0, "final": 1000},
        "scales": {name: scale for name in ("smoke", "small", "paper")},
        "panels": {"a": {"title": "A panel", "plot": PLOT, **panel, "curves": curves}},
    }


def write_figure(
    folder: Path, figure: dict[str, Any], name: str = "figure9", experiments: str = "experiments"
) -> None:
    path = folder / experiments / "rtu" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(figure, sort_keys=False))


def make_project(folder: Path, figure: dict[str, Any], experiments: str = "experiments") -> Path:
    """A folder with what Snakemake needs, and the figure as figure9 of the RTU paper."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
    write_figure(folder, figure, experiments=experiments)
    return folder


def snakemake(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """What Snakemake did in a folder; stdout has its stderr too."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
