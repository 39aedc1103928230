"""The actor-critic agent with one recurrent layer."""

from matplotlib.axes import Axes

from untruncated.plots.drawing import arrow, box, empty_canvas

DENSE, CELL, HEAD = "#DCEBF5", "#CFEBDD", "#FBE3C0"


def draw(axes: Axes) -> None:
    """Draws the network from the observation to policy and value."""
    empty_canvas(axes, 10.0, 3.1)
    y = 1.45
    axes.text(0.45, y, "$o_t$", ha="center", va="center", fontsize=10)
    box(axes, (1.9, y), (1.3, 0.9), "dense 64\ntanh", DENSE)
    box(axes, (4.1, y), (1.5, 1.0), "recurrent\nlayer", CELL)
    arrow(axes, (0.75, y), (1.25, y))
    arrow(axes, (2.55, y), (3.35, y), "$x_t$", text_at=(2.95, y + 0.25), fontsize=10)
    loop = (4.6, y + 0.5), (3.6, y + 0.5)
    arrow(axes, *loop, "$h_{t-1}$, traces", bend=1.1, text_at=(4.1, y + 1.4), fontsize=10)
    for place, name, hidden, out in (
        (y + 0.95, "actor", "$|A|$ outputs", r"$\pi(a \mid h_t)$"),
        (y - 0.95, "critic", "1 output", "$v(h_t)$"),
    ):
        box(axes, (6.2, place), (1.3, 0.9), f"{name}\ndense 64\ntanh", HEAD)
        box(axes, (7.95, place), (1.4, 0.9), f"dense\n{hidden}", HEAD)
        arrow(
            axes,
            (4.85, y),
            (5.55, place),
            "$h_t$" if name == "actor" else "",
            text_at=(5.05, y + 0.65),
            fontsize=10,
        )
        arrow(axes, (6.85, place), (7.25, place))
        arrow(axes, (8.65, place), (8.95, place))
        axes.text(8.97, place, out, ha="left", va="center", fontsize=10)
