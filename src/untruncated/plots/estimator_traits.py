"""What each gradient estimator costs and promises, as a table."""

from matplotlib.axes import Axes

from untruncated.catalogue.estimator_traits import TRAITS
from untruncated.plots.style import SMALLEST

COLUMNS = ("method", "time", "memory", "measured", "parallel", "unbiased", "any loss", "smooths")
WIDTHS = (0.2, 0.26, 0.19, 0.13, 0.075, 0.09, 0.08, 0.08)


def draw(axes: Axes) -> None:
    """Draws the table, a row for each method."""
    words = {True: "yes", False: "no"}
    rows = [
        (
            traits.label,
            traits.compute,
            traits.memory,
            "the same" if traits.measured == traits.memory else traits.measured,
            words[traits.parallel],
            traits.unbiased,
            words[traits.nondifferentiable],
            words[traits.smooths],
        )
        for traits in TRAITS.values()
    ]
    axes.set_axis_off()
    table = axes.table(rows, colLabels=COLUMNS, colWidths=WIDTHS, cellLoc="left", bbox=(0, 0, 1, 1))
    table.auto_set_font_size(False)
    table.set_fontsize(SMALLEST)
    for (row, _), cell in table.get_celld().items():
        cell.set_linewidth(0.3)
        cell.PAD = 0.03
        if row == 0:
            cell.set_text_props(weight="bold")
