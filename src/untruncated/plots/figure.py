"""Lays out a figure's panels, says on its face what it shows, and writes it as PDF and PNG."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from untruncated.catalogue import lookup
from untruncated.catalogue.entry import not_among
from untruncated.plots.style import styled
from untruncated.suite.errors import SpecError, SuiteError
from untruncated.suite.expansion import load_figures
from untruncated.suite.figures import Figure, Panel
from untruncated.suite.files import atomic_path

PANEL_WIDTH, PANEL_HEIGHT = 3.8, 2.8  # inches, as are the margins and heights below
LEFT, RIGHT, TITLE, X_AXIS = 0.65, 0.12, 0.3, 0.45
LINE_HEIGHT, LEGEND_LINE = 0.125, 0.19
CHARACTERS_PER_INCH = 17.5


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
        raise SpecError(not_among(name, figures, "figure"))
    return figure, [figure.panels[name[-1]]]


def _table(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"{path}: cannot be read as a table ({error}). Rebuild it with: "
            f"snakemake -f {path} --config scale={path.parent.name}"
        ) from error


def _draw(figure: Figure, panels: list[Panel], tables: dict[str, pd.DataFrame]) -> Canvas:
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    width, height = PANEL_WIDTH * columns, PANEL_HEIGHT * rows
    caption = textwrap.wrap(face(figure, tables), width=int(CHARACTERS_PER_INCH * width))
    legend_columns = 5 if columns > 1 else 2
    curves = {point.label for panel in panels for point in panel.points}
    below = LINE_HEIGHT * (len(caption) + 1)
    above = LEGEND_LINE * -(-(len(curves) + 1) // legend_columns) + 0.1
    total = height + below + above
    canvas = Canvas(figsize=(width, total))
    grid = canvas.subplots(rows, columns, squeeze=False, sharey=True)
    inner = PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TITLE - X_AXIS
    canvas.subplots_adjust(
        left=LEFT / width,
        right=1 - RIGHT / width,
        bottom=(below + X_AXIS) / total,
        top=1 - (above + TITLE) / total,
        wspace=(LEFT + RIGHT) / inner[0],
        hspace=(TITLE + X_AXIS) / inner[1],
    )
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw = lookup("plot", panel.plot["name"], "plot").load()
        draw(axes, tables[panel.name], panel.plot)
        axes.set_title(f"({panel.name}) {panel.title}", loc="left")
        axes.tick_params(labelleft=True)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    _legend(canvas, grid.flat, legend_columns)
    canvas.text(0.02, 0.04 / total, "\n".join(caption), fontsize=7, color="0.3", va="bottom")
    return canvas


def _legend(canvas: Canvas, panels: Iterable[Axes], columns: int) -> None:
    """One legend for all panels: a curve that several have stands once."""
    entries = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    canvas.legend(
        entries.values(),
        entries.keys(),
        loc="upper center",
        ncols=min(len(entries), columns),
        columnspacing=1.2,
        handlelength=1.8,
    )


def face(figure: Figure, tables: dict[str, pd.DataFrame]) -> str:
    """What stands below the panels: scale, length, seeds, tuning, error bars, fidelity."""
    everything = pd.concat(tables.values())
    finals = everything[(everything["stage"] == "final") & (everything["metric"] == "msre")]
    tuning = everything[(everything["stage"] == "tuning") & (everything["metric"] == "msre")]
    seeds = finals["seed"].nunique()
    sizes = ", ".join(f"{size:g}" for size in sorted(tuning["step_size"].unique()))
    at_edge = finals[finals["at_edge"].astype(str) == "True"]
    edges = len(at_edge[["curve", "width", "truncation"]].drop_duplicates())
    parts = [
        f"{figure.title}. {figure.caption}",
        f"Scale {figure.scale}: {figure.steps:,} steps, {seeds} seeds, step size chosen among "
        f"{{{sizes}}} on {tuning['seed'].nunique()} other seeds.",
        "Markers and flat lines: mean; bars and bands: ±1 standard error; dots: single seeds.",
        f"Configurations whose step size is at the edge of the grid: {edges}." if edges else "",
        f"Fidelity: {figure.fidelity}.",
    ]
    return " ".join(part for part in parts if part)


def _metadata(output: Path) -> dict[str, str | None]:
    """No dates or versions, so that the same figure is the same file."""
    if output.suffix == ".pdf":
        return {"CreationDate": None, "Producer": None, "Creator": "untruncated"}
    return {"Software": None}
