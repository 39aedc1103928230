"""A loss over a plane as shades of grey, for others to draw on."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter, LogLocator

from untruncated.plots.axes import short


def draw_surface(
    axes: Axes, table: pd.DataFrame, names: tuple[str, str], limits: tuple[float, float], label: str
) -> None:
    """Draws the baseline's loss below whatever else a panel shows.

    Args:
        axes: Where.
        table: The panel's table.
        names: Its columns with the first and the second coordinate.
        limits: The lowest and the highest loss told apart.
        label: Of the colours.
    """
    surface = table[(table["stage"] == "baseline") & (table["metric"] == "loss")]
    axes.grid(visible=False)
    if surface.empty:
        return
    grid = surface.pivot(index=names[1], columns=names[0], values="value")
    mesh = axes.pcolormesh(
        grid.columns,
        grid.index,
        grid.to_numpy(),
        norm=LogNorm(*limits),
        cmap="Greys",
        rasterized=True,
    )
    place = axes.inset_axes((1.03, 0, 0.05, 1))
    bar = axes.figure.colorbar(mesh, cax=place, label=label, format=FuncFormatter(short))
    bar.locator = LogLocator(subs=(1, 2, 5))
    bar.minorticks_off()
    bar.update_ticks()
    if len(grid.columns) > 1:
        axes.set_xlim(np.min(grid.columns), np.max(grid.columns))
    if len(grid.index) > 1:
        axes.set_ylim(np.min(grid.index), np.max(grid.index))
