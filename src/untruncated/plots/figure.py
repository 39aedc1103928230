"""From a figure's tables to its PDF and PNG."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from untruncated.basics.command_lines import collect_table
from untruncated.basics.errors import SpecError, SuiteError
from untruncated.basics.files import atomic_path
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.figures import Panel
from untruncated.experiments.plan import find_drawing
from untruncated.plots.layout import lay_out
from untruncated.plots.style import styled
from untruncated.tables.panel_tables import read_table

FORMATS = (".pdf", ".png")


def draw_figure(
    name: str, scale: str, experiments: Path, tables: Path, outputs: Sequence[Path]
) -> None:
    """Draws the figure or the panel that the target `name` stands for, from its tables.

    Raises:
        SuiteError: The name is unknown, a table is missing or lacks something, a file's format is
            unknown or it cannot be written.
    """
    for output in outputs:
        if output.suffix.lower() not in FORMATS:
            raise SpecError(f"--output {output}: must end in {' or '.join(FORMATS)}")
    figure, panels = find_drawing(name, load_figures(experiments, scale))
    read = {
        panel.name: _table(tables / f"{figure.name}{panel.name}.csv", panel, scale, experiments)
        for panel in panels
        if panel.points
    }
    with styled():
        canvas = lay_out(figure, panels, read)
        for output in outputs:
            with atomic_path(output) as path:
                canvas.savefig(path, metadata=_metadata(output))


def _table(path: Path, panel: Panel, scale: str, experiments: Path) -> pd.DataFrame:
    """A panel's table, with all its runs in it."""
    try:
        table = read_table(path)
        _check(table, panel)
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"{path}: cannot be read as a table ({error}). "
            f"Make it again with: {collect_table(path, scale, experiments)}"
        ) from error
    return table


def _check(table: pd.DataFrame, panel: Panel) -> None:
    have = set(table["run"])
    for run in panel.runs:
        if run.hash not in have:
            raise ValueError(f"the run {run.hash} is missing")


def _metadata(output: Path) -> dict[str, str | None]:
    """No dates or versions, so that the same figure is the same file."""
    if output.suffix.lower() == ".pdf":
        return {"CreationDate": None, "Producer": None, "Creator": "untruncated"}
    return {"Software": None}
