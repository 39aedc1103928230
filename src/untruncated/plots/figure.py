"""Lays out a figure's panels, says on its face what it shows, and writes it as PDF and PNG."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from untruncated.catalogue import lookup
from untruncated.catalogue.entry import not_among
from untruncated.plots.face import face, wrapped
from untruncated.plots.style import styled
from untruncated.suite.commands import rebuild_table
from untruncated.suite.errors import SpecError, SuiteError
from untruncated.suite.expansion import load_figures
from untruncated.suite.figures import Figure, Panel
from untruncated.suite.files import atomic_path
from untruncated.suite.tables import read_table

PANEL_WIDTH, PANEL_HEIGHT = 3.8, 2.8  # inches, as are the margins and heights below
LONE_PANEL_WIDTH = 5.2
LEFT, RIGHT, TITLE, X_AXIS = 0.65, 0.12, 0.3, 0.45
LINE_HEIGHT, LEGEND_LINE = 0.125, 0.19
CHARACTERS_PER_INCH = 17.5
FORMATS = (".pdf", ".png")


def draw_figure(
    name: str, scale: str, experiments: Path, tables: Path, outputs: Sequence[Path]
) -> None:
    """Draws the figure `name`, or the one panel that it names, from its tables.

    Raises:
        SuiteError: The name is unknown, a table is missing or lacks something, a file's format is
            unknown or it cannot be written.
    """
    for output in outputs:
        if output.suffix.lower() not in FORMATS:
            raise SpecError(f"--output {output}: must end in {' or '.join(FORMATS)}")
    figure, panels = _chosen(name, load_figures(experiments, scale))
    read = {
        panel.name: _table(tables / f"{figure.name}{panel.name}.csv", panel, scale)
        for panel in panels
        if panel.points
    }
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


def _table(path: Path, panel: Panel, scale: str) -> pd.DataFrame:
    """A panel's table, with all its runs in it."""
    try:
        table = read_table(path)
        _check(table, panel)
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"{path}: cannot be read as a table ({error}). "
            f"Rebuild it with: {rebuild_table(path, scale)}"
        ) from error
    return table


def _check(table: pd.DataFrame, panel: Panel) -> None:
    have = set(table["run"])
    for run in panel.runs:
        if run.hash not in have:
            raise ValueError(f"the run {run.hash} is missing")


def _draw(figure: Figure, panels: list[Panel], tables: dict[str, pd.DataFrame]) -> Canvas:
    columns = 2 if len(panels) == 4 else min(3, len(panels))
    rows = -(-len(panels) // columns)
    panel_width = PANEL_WIDTH if columns > 1 else LONE_PANEL_WIDTH
    width, height = panel_width * columns, PANEL_HEIGHT * rows
    caption = wrapped(face(figure, panels, tables), int(CHARACTERS_PER_INCH * width))
    legend_columns = 5 if columns > 1 else 3
    curves = _shared_labels(panels)
    below = LINE_HEIGHT * (len(caption) + 1)
    above = LEGEND_LINE * -(-len(curves) // legend_columns) + 0.1
    total = height + below + above
    canvas = Canvas(figsize=(width, total))
    grid = canvas.subplots(rows, columns, squeeze=False, sharey=_same_quantity(panels))
    inner = panel_width - LEFT - RIGHT, PANEL_HEIGHT - TITLE - X_AXIS
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
        if panel.points:
            draw(axes, tables[panel.name], panel.plot)
            axes.tick_params(labelleft=True)
        else:
            draw(axes)
        letter = f"({panel.name}) " if len(figure.panels) > 1 else ""
        axes.set_title(letter + panel.title, loc="left")
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    _legend(canvas, grid.flat, legend_columns)
    canvas.text(0.02, 0.04 / total, "\n".join(caption), fontsize=7, color="0.3", va="bottom")
    return canvas


def _shared_labels(panels: list[Panel]) -> set[str]:
    """What stands in the legend above all panels; some plots have one of their own."""
    shared = [p for p in panels if lookup("plot", p.plot["name"], "plot").shares_legend]
    labels = {point.label for panel in shared for point in panel.points}
    return labels | {panel.baseline_label for panel in shared if panel.baselines}


def _same_quantity(panels: list[Panel]) -> bool:
    """Whether one y axis serves all panels: they show the same metric in the same way."""
    return len({(p.plot["name"], p.plot.get("metric")) for p in panels}) == 1


def _legend(canvas: Canvas, panels: Iterable[Axes], columns: int) -> None:
    """One legend for all panels: a curve that several have stands once."""
    entries = {}
    for axes in panels:
        if axes.get_legend() is not None:
            continue
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    if not entries:
        return
    canvas.legend(
        entries.values(),
        entries.keys(),
        loc="upper center",
        ncols=min(len(entries), columns),
        columnspacing=1.2,
        handlelength=1.8,
    )


def _metadata(output: Path) -> dict[str, str | None]:
    """No dates or versions, so that the same figure is the same file."""
    if output.suffix.lower() == ".pdf":
        return {"CreationDate": None, "Producer": None, "Creator": "untruncated"}
    return {"Software": None}
