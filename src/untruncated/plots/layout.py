"""Where panels, legends and the caption stand on a canvas, in inches."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from untruncated.catalogue import lookup
from untruncated.catalogue.plots import PlotEntry
from untruncated.experiments.figures import Figure, Panel
from untruncated.plots.axes import plain_numbers
from untruncated.plots.face import face, wrapped
from untruncated.plots.legends import Entries, entries, shared, widest_legend
from untruncated.plots.style import PAGE_WIDTH, SMALLEST

LONE_WIDTH = 5.2
LEFT, RIGHT, GAP, EDGE, X_AXIS = 0.62, 0.12, 0.22, 0.1, 0.44
TITLE_LINE, CAPTION_LINE, SPACE = 0.16, 0.125, 0.08
MOST_CHARACTERS = 20  # of the caption, per inch


@dataclass(eq=False)
class _Cell:
    """A panel's axes, the lines of its title, and its legend below if it has one of its own."""

    panel: Panel
    entry: PlotEntry
    axes: Axes
    width: float  # of the axes
    title: str
    legend: Legend | None = None


_Row = list[_Cell]


def lay_out(figure: Figure, panels: Sequence[Panel], tables: dict[str, pd.DataFrame]) -> Canvas:
    """Draws panels, legends and caption on a canvas that is as high as they need.

    Args:
        figure: What the panels are of.
        panels: Those to draw.
        tables: By panel; drawings have none.
    """
    rows = _rows(panels)
    wide = max(map(len, rows)) > 1 or any(_entry(panel).is_wide for panel in panels)
    width = PAGE_WIDTH if wide else LONE_WIDTH
    canvas = Canvas(figsize=(width, 1))
    FigureCanvasAgg(canvas)  # measures texts
    cells = _draw(canvas, rows, tables, lettered=len(figure.panels) > 1)
    legend = _add_legends(canvas, [cell for row in cells for cell in row])
    caption = _caption(canvas, face(figure, panels, tables))
    lines = caption.get_text().count("\n") + 1
    above = EDGE + (_height(legend) + SPACE if legend else 0)
    below = EDGE + CAPTION_LINE * lines
    total = above + sum(_row_height(row) for row in cells) + below
    canvas.set_size_inches(width, total)
    if legend:
        legend.set_bbox_to_anchor((0.5, 1 - EDGE / total), canvas.transFigure)
    top = total - above
    for row in cells:
        _place(row, top, width, total)
        top -= _row_height(row)
    for axes in canvas.axes:
        plain_numbers(axes)
    caption.set_position((EDGE / width, EDGE / total))
    return canvas


def _caption(canvas: Canvas, words: str) -> Text:
    """The text in lines as long as the canvas is wide."""
    width = canvas.get_figwidth() - 2 * EDGE
    text = canvas.text(0, 0, words, fontsize=SMALLEST, color="0.3", va="bottom")
    characters = int(MOST_CHARACTERS * width)
    while characters > 1:
        text.set_text("\n".join(wrapped(words, characters)))
        if text.get_window_extent().width <= width * canvas.dpi:
            break
        characters -= 2
    return text


def _entry(panel: Panel) -> PlotEntry:
    return lookup("plot", panel.plot["name"], "plot")


def _rows(panels: Sequence[Panel]) -> list[list[Panel]]:
    """Two panels to a row, three if there are three; a wide one has a row of its own."""
    columns = 3 if len(panels) == 3 else 2
    rows: list[list[Panel]] = []
    for panel in panels:
        if (
            rows
            and len(rows[-1]) < columns
            and not _entry(rows[-1][0]).is_wide | _entry(panel).is_wide
        ):
            rows[-1].append(panel)
        else:
            rows.append([panel])
    return rows


def _same_quantity(panels: Sequence[Panel]) -> bool:
    """Whether one y axis serves all panels: they show the same metric in the same way."""
    return len({(p.plot["name"], p.plot.get("metric")) for p in panels}) == 1


def _draw(
    canvas: Canvas, rows: list[list[Panel]], tables: dict[str, pd.DataFrame], lettered: bool
) -> list[_Row]:
    """The panels on axes that have their horizontal places, and the figure's whole height."""
    one_y = _same_quantity([panel for row in rows for panel in row])
    columns, whole = max(map(len, rows)), canvas.get_figwidth()
    first, cells = None, []
    for row in rows:
        cells.append([])
        for column, panel in enumerate(row):
            entry = _entry(panel)
            left, width = _span(entry, column, 1 if entry.is_wide else columns, whole, one_y)
            axes = canvas.add_axes(
                (left / whole, 0, width / whole, 1), sharey=first if one_y else None
            )
            first = first or axes
            if panel.points:
                entry.load()(axes, tables[panel.name], panel.plot)
            else:
                entry.load()(axes)
            if one_y and column:
                axes.set_ylabel("")
                axes.tick_params(labelleft=False)
            title = (f"({panel.name}) " if lettered else "") + panel.title
            cells[-1].append(_Cell(panel, entry, axes, width, _wrapped(axes, title, width)))
    return cells


def _span(
    entry: PlotEntry, column: int, columns: int, whole: float, one_y: bool
) -> tuple[float, float]:
    """Where a panel's axes begin, and how wide they are."""
    if one_y and not entry.is_drawing:  # the numbers stand at the first column only
        share = (whole - LEFT - RIGHT + GAP) / columns
        return LEFT + column * share, share - GAP - entry.right
    left, right = (EDGE, EDGE) if entry.is_drawing else (LEFT, RIGHT + entry.right)
    share = whole / columns
    return column * share + left, share - left - right


def _wrapped(axes: Axes, title: str, width: float) -> str:
    """The title in lines that are no wider than `width` inches."""
    text = axes.set_title(title, loc="left")
    have = text.get_window_extent().width / axes.get_figure(root=True).dpi
    characters = max(int(len(title) * width / have), 1) if have > width else len(title)
    return "\n".join(wrapped(title, characters)) if title else title


def _add_legends(canvas: Canvas, cells: _Row) -> Legend | None:
    """One for all panels, which is returned, or one for each where a look depends on the panel."""
    shown = [entries(cell.axes) for cell in cells]
    merged = shared(shown)
    titles = {cell.panel.plot.get("legend_title", "") for cell in cells}
    if merged is not None:
        if not merged:
            return None
        width = canvas.get_figwidth() - 2 * EDGE
        title = titles.pop() if len(titles) == 1 else ""
        return widest_legend(canvas, merged, width, loc="upper center", title=title or None)
    for cell, entry in zip(cells, shown, strict=True):
        cell.legend = _own_legend(cell, entry)
    return None


def _own_legend(cell: _Cell, shown: Entries) -> Legend | None:
    if not shown:
        return None
    below = cell.axes.transAxes + ScaledTranslation(0, -X_AXIS, cell.axes.figure.dpi_scale_trans)
    title = cell.panel.plot.get("legend_title", "")
    return widest_legend(
        cell.axes,
        shown,
        cell.width,
        loc="upper left",
        title=title or None,
        bbox_to_anchor=(0, 0),
        bbox_transform=below,
        alignment="left",
    )


def _height(legend: Legend | None) -> float:
    return legend.get_window_extent().height / legend.figure.dpi if legend else 0.0


def _head(row: _Row) -> float:
    """The height of a row's titles."""
    return SPACE + TITLE_LINE * max(cell.title.count("\n") + 1 if cell.title else 0 for cell in row)


def _foot(row: _Row) -> float:
    """The height of what stands below a row's axes: the x axes, and legends of single panels."""
    if all(cell.entry.is_drawing for cell in row):
        return SPACE
    return X_AXIS + max(_height(cell.legend) + SPACE if cell.legend else 0 for cell in row)


def _row_height(row: _Row) -> float:
    return _head(row) + max(cell.entry.height for cell in row) + _foot(row)


def _place(row: _Row, top: float, width: float, total: float) -> None:
    """Moves a row's axes to their height below `top`."""
    for cell in row:
        left = cell.axes.get_position().x0
        bottom = top - _head(row) - cell.entry.height
        size = cell.width / width, cell.entry.height / total
        cell.axes.set_position((left, bottom / total, *size))
        cell.axes.set_title(cell.title, loc="left")
