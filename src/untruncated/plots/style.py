"""One look for every figure: a cell has the same colour and marker wherever it appears."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import matplotlib
import numpy as np
import seaborn
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patheffects import withStroke

# Inches of text width where the pictures are shown; a wider canvas, and its text, would be shrunk.
PAGE_WIDTH = 6.9
# Points of the smallest text. Mathtext sets sub- and superscripts at 0.7 of its own size.
SMALLEST, SCRIPTS = 7.0, 0.7

# Okabe and Ito's hues, darkened until each stands out from white (a contrast of 3 and more) and
# moved until any two stay apart for readers who lack red or green cones.
VERMILION, BLUE, GREEN, PINK = "#B74B04", "#1866CE", "#228E72", "#D56BB5"
GOLD, SKY, PURPLE, WINE, SLATE = "#B18E1E", "#1E96FA", "#583695", "#841C48", "#58628A"
BLACK = "#000000"

BASELINE_COLOR = "black"
# the second curve of a method and those after it, so that one colour serves them all
LINE_STYLES = ("-", "--", ":", "-.")

SETTINGS = {
    "axes.grid": True,
    "axes.labelsize": 8.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.dpi": 150,
    "font.size": 9,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.borderpad": 0.0,
    "legend.frameon": False,
    "legend.title_fontsize": 7.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,
    "svg.hashsalt": "untruncated",
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
}


class Look(NamedTuple):
    """How one series is drawn."""

    color: str
    marker: str


_LOOKS = {
    "gru": Look(VERMILION, "o"),
    "lru": Look(BLUE, "s"),
    "linear_rtu": Look(GREEN, "^"),
    "nonlinear_rtu": Look(PINK, "D"),
    "block_diagonal": Look(GOLD, "v"),
    "nonlinear_lru": Look(SKY, "P"),
    "vanilla_rnn": Look(BLUE, "X"),
    "feedforward": Look(SLATE, "X"),
    "pes": Look(VERMILION, "o"),
    "pes_analytic": Look(PINK, "D"),
    "es_single": Look(WINE, "h"),
    "truncated_es": Look(BLUE, "s"),
    "full_es": Look(SKY, "P"),
    "truncated_bptt": Look(GOLD, "v"),
    "bptt": Look(SLATE, "X"),
    "rtrl": Look(BLACK, "x"),
    "cell_traces": Look(PURPLE, "*"),
    "uoro": Look(GREEN, "^"),
}
_SPARE = (Look(PURPLE, "<"), Look(SLATE, ">"), Look(WINE, "h"), Look(BLACK, "p"))

# For curves that are no method's: markers and colours in order.
SERIES = (
    Look(BLUE, "s"),
    Look(VERMILION, "o"),
    Look(GREEN, "^"),
    Look(PINK, "D"),
    Look(GOLD, "v"),
    Look(PURPLE, "P"),
)
# Viridis from before its darkest colour to the lightest that stands out from white, at equal steps
# of Oklab: of five shades, any two are as far apart as the colours of unlike things.
_SHADES = (
    *("#220033", "#3b014b", "#481668", "#463480"),
    *("#3c508b", "#31688e", "#277e8e", "#20928c", "#21a685"),
)
# Makes small text readable on a picture.
STROKE = [withStroke(linewidth=2, foreground="white")]


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name: the fixed one of a known cell, or a spare one in order of naming."""
    unknown = [name for name in dict.fromkeys(names) if name not in _LOOKS]
    spare = {name: _SPARE[index % len(_SPARE)] for index, name in enumerate(unknown)}
    return {name: _LOOKS.get(name) or spare[name] for name in names}


def shades(count: int) -> list[tuple]:
    """Colours for things that have an order, from dark to as light as stands out from white."""
    return list(LinearSegmentedColormap.from_list("shades", _SHADES)(np.linspace(0, 1, count)))


@contextmanager
def styled() -> Iterator[None]:
    """Applies the house style to what is drawn inside."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # not what a matplotlibrc or an earlier figure has set
        seaborn.set_theme("paper", "ticks", "colorblind", font="DejaVu Sans", rc=SETTINGS)
        yield
