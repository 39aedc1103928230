"""Nodes, boxes and arrows for the figures that are drawings."""

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

Place = tuple[float, float]
INK = "0.15"


def empty_canvas(axes: Axes, width: float, height: float) -> None:
    """Coordinates from 0 to width and height, equal in both directions, without axes."""
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_aspect("equal")
    axes.set_axis_off()


def circle(axes: Axes, center: Place, radius: float, text: str, color: str) -> None:
    """A labelled circle."""
    axes.add_patch(Circle(center, radius, facecolor=color, edgecolor=INK, linewidth=1.2))
    axes.text(*center, text, ha="center", va="center", fontsize=11)


def box(axes: Axes, center: Place, size: Place, text: str, color: str) -> None:
    """A labelled box with round corners."""
    corner = center[0] - size[0] / 2, center[1] - size[1] / 2
    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(
        FancyBboxPatch(corner, *size, boxstyle=style, facecolor=color, edgecolor=INK, linewidth=1)
    )
    axes.text(*center, text, ha="center", va="center", fontsize=8)


def arrow(
    axes: Axes,
    start: Place,
    end: Place,
    text: str = "",
    *,
    bend: float = 0.0,
    text_at: Place | None = None,
    dashed: bool = False,
    fontsize: float = 8,
) -> None:
    """An arrow from start to end, bent to its right by `bend`, with a label beside it."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle="-|>",
            mutation_scale=9,
            color=INK,
            linewidth=1,
            linestyle="--" if dashed else "-",
        )
    )
    if text:
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        axes.text(*(text_at or middle), text, ha="center", va="center", fontsize=fontsize)
