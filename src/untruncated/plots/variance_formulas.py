"""The exact variance of PES on linear losses, as a table of formulas."""

from matplotlib.axes import Axes

# In units of the squared gradient, for one pair; `catalogue.variance_laws` has them as functions.
FORMULAS = (
    ("not zero", "all the same", "independent"),
    ("m = t", r"$\dfrac{1}{T}+\dfrac{P}{2}+\dfrac{P}{2T}$", r"$1+\dfrac{P(T+1)}{2}$"),
    ("m ≤ t", r"$\dfrac{2}{3}(P+1)\left(1+\dfrac{1}{T(T+1)}\right)$", r"$1+\dfrac{P(2T+1)}{3}$"),
)


def draw(axes: Axes) -> None:
    """Draws the table: which gradients are not zero by row, how they are drawn by column."""
    axes.set_axis_off()
    table = axes.table(FORMULAS, cellLoc="center", colWidths=(0.14, 0.5, 0.36), bbox=(0, 0, 1, 1))
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    for (row, column), cell in table.get_celld().items():
        cell.set_linewidth(0.4)
        if row and column:
            cell.get_text().set_fontsize(8.5)
