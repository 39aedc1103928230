"""Legends: each curve stands once, above the data and never over it."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import Container
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

MOST_COLUMNS = 6
REFERENCE = "reference"  # the group of lines that are no curve's

Entries = dict[str, Any]


def entries(axes: Axes) -> Entries:
    """What is drawn under a label, in the order of drawing."""
    handles, labels = axes.get_legend_handles_labels()
    order = {id(line): index for index, line in enumerate(axes.lines)}
    drawn = sorted(
        zip(labels, handles, strict=True), key=lambda pair: order.get(id(_line(pair[1])), 0)
    )
    return dict(drawn)


def shared(panels: Sequence[Entries]) -> Entries | None:
    """One legend for all panels, references last; None if a label or a look has two meanings."""
    looks: dict[str, tuple] = {}
    merged: Entries = {}
    for panel in panels:
        for label, handle in panel.items():
            if looks.setdefault(label, _look(handle)) != _look(handle):
                return None
            # where a curve looks plainer in one panel than in another, the other says more
            if label not in merged or _weight(handle) > _weight(merged[label]):
                merged[label] = handle
    if len(set(looks.values())) < len(looks):
        return None
    return dict(sorted(merged.items(), key=lambda entry: _line(entry[1]).get_gid() == REFERENCE))


def widest_legend(
    place: Canvas | Axes, shown: Mapping[str, Any], width: float, **options: Any
) -> Legend:
    """A legend with as many columns as fit into `width` inches; the options are matplotlib's."""
    dpi = place.get_figure(root=True).dpi

    def legend(columns: int) -> Legend:
        return place.legend(
            shown.values(),
            shown.keys(),
            ncols=columns,
            borderaxespad=0,
            columnspacing=1.2,
            handlelength=2.2,
            **options,
        )

    columns = min(len(shown), MOST_COLUMNS)
    drawn = legend(columns)
    while columns > 1 and drawn.get_window_extent().width > width * dpi:
        drawn.remove()
        columns -= 1
        drawn = legend(columns)
    lines = -(-len(shown) // columns)
    if -(-len(shown) // lines) < columns:  # as many lines with fewer columns: they are fuller
        drawn.remove()
        drawn = legend(-(-len(shown) // lines))
    return drawn


def _line(handle: Any) -> Line2D:
    return handle[0] if isinstance(handle, Container) else handle


def _look(handle: Any) -> tuple[str, str]:
    """Colour and line, not markers: a flat curve has none of those, and marks have no line."""
    line = _line(handle)
    style = str(line.get_linestyle())
    return to_hex(line.get_color()), "-" if style == "None" else style


def _weight(handle: Any) -> tuple[bool, float]:
    return isinstance(handle, Container), _line(handle).get_linewidth()
