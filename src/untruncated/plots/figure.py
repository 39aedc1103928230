"""Lays out a figure's panels, says on its face what it shows, and writes it as PDF and PNG."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure as Canvas

from untruncated.catalogue import lookup
from untruncated.catalogue.entry import not_among
from untruncated.plots.style import styled
from untruncated.suite.errors import SpecError, SuiteError
from untruncated.suite.figures import Figure, Panel, load_figures
from untruncated.suite.files import atomic_path

PANEL_WIDTH, PANEL_HEIGHT = 3.6, 2.7  # inches


def draw_figure(
    name: str, scale: str, experiments: Path, tables: Path, outputs: Sequence[Path]
) -> None:
    """Draws the figure `name`, or the one panel that it names, from its tables.

    Raises:
        SuiteError: The name is unknown, a table is missing, or a file cannot be written.
    """
    figure, panels = _chosen(name, load_figures(experiments, scale))
    read = {panel.name: _table(tables / f"{figure.name}{panel.name}.csv") for panel in panels}
    with styled():
        canvas = _draw(figure, panels, read)
        for output in outputs:
            with atomic_path(output) as path:
                canvas.savefig(path, metadata=_metadata(output))


def _chosen(name: str, figures: dict[str, Figure]) -> tuple[Figure, list[Panel]]:
    if name in figures:
        return figures[name], list(figures[name].panels.values())
    figure = figures.get(name[:-1])
    if figure is None or name[-1] not in figure.panels:
        raise SpecError(f"unknown figure: {not_among(name, figures)}")
    return figure, [figure.panels[name[-1]]]


def _table(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"{path}: cannot be read as a table ({error}). Rebuild it with: snakemake -f {path}"
        ) from error


def _draw(figure: Figure, panels: list[Panel], tables: dict[str, pd.DataFrame]) -> Canvas:
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    size = (PANEL_WIDTH * columns + 0.4, PANEL_HEIGHT * rows + 1.5)
    canvas = Canvas(figsize=size, layout="constrained")
    grid = canvas.subplots(rows, columns, squeeze=False, sharey=len(panels) > 1)
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw = lookup("plot", panel.plot["name"], "plot").load()
        draw(axes, tables[panel.name], panel.plot)
        axes.set_title(f"({panel.name}) {panel.title}", loc="left")
        axes.tick_params(labelleft=True)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    entries = {}
    for axes in grid.flat:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    canvas.legend(
        entries.values(), entries.keys(), loc="outside upper center", ncols=min(len(entries), 3)
    )
    lines = textwrap.wrap(face(figure, tables), width=57 * columns)
    canvas.supxlabel("\n".join(lines), fontsize=7, color="0.3")
    return canvas


def face(figure: Figure, tables: dict[str, pd.DataFrame]) -> str:
    """What stands below the panels: scale, length, seeds, tuning, error bars, fidelity."""
    everything = pd.concat(tables.values())
    finals = everything[(everything["stage"] == "final") & (everything["metric"] == "msre")]
    tuning = everything[(everything["stage"] == "tuning") & (everything["metric"] == "msre")]
    per_point = finals.groupby("run")["seed"].nunique()
    seeds = finals["seed"].nunique()
    sizes = ", ".join(f"{size:g}" for size in sorted(tuning["step_size"].unique()))
    edges = finals.loc[finals["at_edge"].astype(str) == "True", "run"].nunique()
    parts = [
        f"{figure.title}. {figure.caption}",
        f"Scale {figure.scale}: {figure.steps:,} steps, {seeds} seeds, step size chosen among "
        f"{{{sizes}}} on {tuning['seed'].nunique()} other seeds.",
        "Markers and lines: mean; bars and bands: ±1 standard error; dots: single seeds."
        if len(per_point)
        else "",
        f"{edges} runs use a step size at the edge of the grid." if edges else "",
        f"Fidelity: {figure.fidelity}.",
    ]
    return " ".join(part for part in parts if part)


def _metadata(output: Path) -> dict[str, str | None]:
    """No dates or versions, so that the same figure is the same file."""
    if output.suffix == ".pdf":
        return {"CreationDate": None, "Producer": None, "Creator": "untruncated"}
    return {"Software": None}
