"""One look for every figure: a cell has the same colour and marker wherever it appears."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.patheffects import withStroke

# Okabe and Ito's palette, which stays apart for colour-blind readers.
_SPARE_COLORS = ("#F0E442", "#999999", "#882255", "#117733")
_SPARE_MARKERS = ("<", ">", "h", "p")
BASELINE_COLOR = "black"
# the second curve of a method and those after it, so that one colour serves them all
LINE_STYLES = ("-", "--", ":", "-.")

SETTINGS = {
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "pdf.fonttype": 42,
    "svg.hashsalt": "untruncated",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


class Look(NamedTuple):
    """How one series is drawn."""

    color: str
    marker: str


_LOOKS = {
    "gru": Look("#D55E00", "o"),
    "lru": Look("#0072B2", "s"),
    "linear_rtu": Look("#009E73", "^"),
    "nonlinear_rtu": Look("#CC79A7", "D"),
    "block_diagonal": Look("#E69F00", "v"),
    "nonlinear_lru": Look("#56B4E9", "P"),
    "vanilla_rnn": Look("#0072B2", "X"),
    "pes": Look("#D55E00", "o"),
    "pes_analytic": Look("#CC79A7", "D"),
    "es_single": Look("#882255", "h"),
    "truncated_es": Look("#0072B2", "s"),
    "full_es": Look("#56B4E9", "P"),
    "truncated_bptt": Look("#E69F00", "v"),
    "bptt": Look("#999999", "X"),
    "rtrl": Look("#000000", "x"),
    "cell_traces": Look("#5D3A9B", "*"),
    "uoro": Look("#009E73", "^"),
}


# For curves that are no method's: markers and colours in order.
SERIES = (Look("#0072B2", "s"), Look("#D55E00", "o"), Look("#009E73", "^"), Look("#CC79A7", "D"))
# Makes small text readable on a picture.
STROKE = [withStroke(linewidth=2, foreground="white")]


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name: the fixed one of a known cell, or a spare one in order of naming."""
    unknown = [name for name in dict.fromkeys(names) if name not in _LOOKS]
    spare = {
        name: Look(
            _SPARE_COLORS[index % len(_SPARE_COLORS)], _SPARE_MARKERS[index % len(_SPARE_MARKERS)]
        )
        for index, name in enumerate(unknown)
    }
    return {name: _LOOKS.get(name) or spare[name] for name in names}


def shades(count: int) -> list[tuple]:
    """Colours for a row of like things, from dark to light."""
    return list(matplotlib.colormaps["viridis"](np.linspace(0, 0.92, count)))


@contextmanager
def styled() -> Iterator[None]:
    """Applies the house style to what is drawn inside."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # not what a matplotlibrc or an earlier figure has set
        matplotlib.rcParams.update(SETTINGS)
        yield
