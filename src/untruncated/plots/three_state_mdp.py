"""The three-state process whose last state must remember where it was entered from."""

from matplotlib.axes import Axes

from untruncated.plots.drawing import arrow, circle, empty_canvas

PLACES = {"1": (1.1, 2.3), "2": (5.1, 2.3), "3": (3.1, 0.5)}
RADIUS = 0.45


def draw(axes: Axes) -> None:
    """Draws states and transitions with their probabilities."""
    empty_canvas(axes, 6.2, 3.3)
    for name, center in PLACES.items():
        circle(axes, center, RADIUS, name, "#FBE3C0" if name == "3" else "#DCEBF5")
    one, two, three = PLACES.values()
    arrow(axes, (1.55, 2.4), (4.65, 2.4), "1/3", bend=-0.15, text_at=(3.1, 2.85))
    arrow(axes, (4.65, 2.2), (1.55, 2.2), "1/3", bend=-0.15, text_at=(3.1, 1.75))
    for center, side in ((one, -1), (two, 1)):
        x, y = center
        loop_start, loop_end = (x + 0.1 * side, y + 0.44), (x + 0.44 * side, y + 0.1)
        arrow(
            axes, loop_start, loop_end, "1/3", bend=-1.6 * side, text_at=(x + 0.95 * side, y + 0.85)
        )
        near_three = (three[0] + 0.42 * side, three[1] + 0.2)
        down_from = (x - 0.15 * side, y - 0.43)
        arrow(axes, down_from, near_three, "1/3", text_at=(x - 0.5 * side, y - 1.05))
        back_from, back_to = (three[0] + 0.45 * side, three[1] - 0.05), (x + 0.12 * side, y - 0.44)
        arrow(axes, back_from, back_to, bend=0.35 * side, dashed=True)
    note = "dashed: back to the state\nit was entered from, probability 1"
    axes.text(three[0] + 0.7, 0.22, note, ha="left", va="center", fontsize=7.5)
