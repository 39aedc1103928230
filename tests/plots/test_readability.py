"""Every figure as it is shown: nothing too small, covered, cut off, or hard to tell apart."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure as Canvas
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from untruncated.plots.legends import entries
from untruncated.plots.style import PAGE_WIDTH, SCRIPTS, SMALLEST

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted((ROOT / "experiments").glob("*/*.yaml"))
every_figure = pytest.mark.parametrize("name", [f"{p.parent.name}_{p.stem}" for p in EXPERIMENTS])
WIDEST_BAND = 0.3  # inches without anything


def texts(canvas: Canvas) -> list[Text]:
    """All that can be read."""
    found = canvas.findobj(lambda artist: isinstance(artist, Text))
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def legends(canvas: Canvas) -> list[Legend]:
    return canvas.findobj(Legend)


@every_figure
def test_no_text_is_under_seven_points_where_it_is_shown(name, canvases):
    canvas = canvases(name)
    shrunk = min(1.0, PAGE_WIDTH / canvas.get_figwidth())
    for text in texts(canvas):
        words = text.get_text()
        small = "$" in words and any(mark in words for mark in ("_", "^", r"\frac"))
        size = text.get_fontsize() * shrunk * (SCRIPTS if small else 1)
        assert size >= SMALLEST - 1e-9, f"{words!r} has {size:.1f} points"


@every_figure
def test_no_text_is_cut_off_or_covers_another(name, canvases):
    canvas = canvases(name)
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawn_texts(canvas)]
    for words, box in boxes:
        assert canvas.bbox.x0 <= box.x0 and box.x1 <= canvas.bbox.x1, f"{words!r} is cut off"
        assert canvas.bbox.y0 <= box.y0 and box.y1 <= canvas.bbox.y1, f"{words!r} is cut off"
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        assert not Bbox.intersection(first.padded(-1), second.padded(-1)), f"{one!r}, {other!r}"


def drawn_texts(canvas: Canvas) -> list[Text]:
    """Texts without the labels of ticks outside an axis' limits."""
    outside = set()
    for axes in canvas.findobj(Axes):
        for axis, (low, high) in (
            (axes.xaxis, sorted(axes.get_xlim())),
            (axes.yaxis, sorted(axes.get_ylim())),
        ):
            for tick in (*axis.majorTicks, *axis.minorTicks):
                margin = 1e-9 * max(abs(low), abs(high))
                if not low - margin <= tick.get_loc() <= high + margin:
                    outside |= {tick.label1, tick.label2}
        if not axes.axison:
            outside |= {t for axis in (axes.xaxis, axes.yaxis) for t in axis.findobj(Text)}
    return [text for text in texts(canvas) if text not in outside]


@every_figure
def test_no_legend_covers_a_line_and_each_curve_stands_in_one(name, canvases, figures):
    canvas = canvases(name)
    boxes = [legend.get_window_extent() for legend in legends(canvas)]
    for box, axes in itertools.product(boxes, canvas.axes):
        assert not Bbox.intersection(box, axes.get_window_extent()), "a legend is on a panel"
    of_all = [label.get_text() for legend in canvas.legends for label in legend.get_texts()]
    assert len(of_all) == len(set(of_all))
    for axes, panel in zip(canvas.axes, figures[name].panels.values(), strict=True):
        own = axes.get_legend()
        assert not (own and canvas.legends), "two legends"
        shown = [label.get_text() for label in own.get_texts()] if own else of_all
        drawn = set(entries(axes))
        assert {point.label for point in panel.points} <= drawn <= set(shown)
        assert not own or sorted(shown) == sorted(drawn)


@every_figure
def test_there_is_no_blank_band(name, canvases):
    canvas = canvases(name)
    boxes = [text.get_window_extent() for text in drawn_texts(canvas)]
    boxes += [legend.get_window_extent() for legend in legends(canvas)]
    boxes += [axes.get_window_extent() for axes in canvas.axes if axes.axison]
    boxes += [patch.get_window_extent() for axes in canvas.axes for patch in axes.patches]
    boxes += [
        cell.get_window_extent()
        for axes in canvas.axes
        for t in axes.tables
        for cell in t.get_celld().values()
    ]
    reached = canvas.bbox.y0
    for low, high in sorted((box.y0, box.y1) for box in boxes):
        assert low - reached <= WIDEST_BAND * canvas.dpi, f"nothing from {reached:.0f} to {low:.0f}"
        reached = max(reached, high)
    assert canvas.bbox.y1 - reached <= WIDEST_BAND * canvas.dpi


@every_figure
def test_no_seed_is_cut_at_the_edge_of_a_panel(name, canvases):
    for axes in canvases(name).axes:
        panel = axes.get_window_extent()
        for dots in axes.collections:
            if isinstance(dots, PathCollection) and len(dots.get_offsets()):
                places = dots.get_offset_transform().transform(dots.get_offsets())
                radius = np.sqrt(dots.get_sizes().max()) / 2 / 72 * axes.get_figure(root=True).dpi
                assert (places[:, 0] + radius <= panel.x1 + 1e-6).all()
                assert (places[:, 0] - radius >= panel.x0 - 1e-6).all()
