"""Colours: what stands out from white, and what readers with and without all cones tell apart."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import Container
from matplotlib.lines import Line2D

from untruncated.plots.legends import entries
from untruncated.plots.style import looks, shades

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted((ROOT / "experiments").glob("*/*.yaml"))
# Oklab × 100: of unlike things, and of shades, which their markers tell apart as well.
APART, SHADES_APART = 10, 4.5
# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
# Ottosson's Oklab: cone responses, and from their cube roots lightness and two hues.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(color: object) -> np.ndarray:
    """Linear RGB of an sRGB colour."""
    rgb = np.asarray(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast_with_white(color: object) -> float:
    """WCAG 2's ratio, 1 to 21; graphics want 3."""
    return 1.05 / (0.05 + LUMINANCE @ linear(color))


def distance(one: object, other: object) -> float:
    """100 times the distance in Oklab, for the reader to whom the two are nearest; white and black
    are 100 apart, and 2 can just be seen."""
    seen = [
        [LAB @ np.cbrt(CONES @ np.clip(vision @ linear(color), 0, 1)) for color in (one, other)]
        for vision in VISIONS.values()
    ]
    return 100 * min(float(np.linalg.norm(first - second)) for first, second in seen)


@pytest.mark.parametrize("name", [f"{p.parent.name}_{p.stem}" for p in EXPERIMENTS])
def test_lines_stand_out_from_white_and_from_each_other(name, canvases):
    for axes in canvases(name).axes:
        lines = [_line(handle) for handle in entries(axes).values()]
        for line in lines:
            assert contrast_with_white(line.get_color()) >= 3, to_hex(line.get_color())
        for one, other in itertools.combinations(lines, 2):
            if to_hex(one.get_color()) == to_hex(other.get_color()):
                assert one.get_linestyle() != other.get_linestyle()
            else:
                enough = APART if one.get_marker() == other.get_marker() else SHADES_APART
                assert distance(one.get_color(), other.get_color()) >= enough


def _line(handle: object) -> Line2D:
    return handle[0] if isinstance(handle, Container) else handle


def test_all_looks_are_apart_for_readers_without_red_or_green_cones():
    colors = {look.color for look in looks(["gru", "lru", "linear_rtu", "nonlinear_rtu"]).values()}
    colors |= {look.color for look in looks(["block_diagonal", "nonlinear_lru"]).values()}
    estimators = ["pes", "pes_analytic", "es_single", "truncated_es", "full_es", "truncated_bptt"]
    colors |= {look.color for look in looks([*estimators, "bptt", "rtrl", "cell_traces"]).values()}
    assert len(colors) == 10
    for one, other in itertools.combinations(colors, 2):
        assert distance(one, other) >= APART
    assert all(contrast_with_white(color) >= 3 for color in (*colors, *map(to_hex, shades(9))))


def test_the_measure_of_colours_knows_what_is_known():
    assert contrast_with_white("black") == pytest.approx(21)
    assert contrast_with_white("#767676") == pytest.approx(4.54, abs=0.01)  # WCAG's own example
    assert distance("white", "black") == pytest.approx(100, abs=0.1)
    # red and green of one lightness: far apart for most, near for deuteranopes
    assert distance("#B58900", "#6F9F00") < 0.6 * distance("#B58900", "#0072B2")
