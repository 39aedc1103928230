"""The committed pictures: one copy of each, what the code draws from the results, all shown."""

import re
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from untruncated.experiments.expansion import load_figures
from untruncated.plots.figure import draw_figure
from untruncated.tables.panel_tables import write_table

ROOT = Path(__file__).parents[1]
SCALE = "small"
PICTURES = ROOT / "figures" / SCALE
FIGURES = load_figures(ROOT / "experiments", SCALE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_what_the_code_draws(name, tables, tmp_path):
    """To the bit where fonts and libraries are the same; elsewhere edges of letters may differ."""
    for panel in FIGURES[name].panels.values():
        if panel.points:
            table = f"{name}{panel.name}"
            runs = ROOT / "results" / "runs"
            write_table(table, SCALE, ROOT / "experiments", runs, tables / f"{table}.csv")
    drawn = tmp_path / f"{name}.png"
    draw_figure(name, SCALE, ROOT / "experiments", tables, [drawn])
    committed = PICTURES / f"{name}.png"
    assert _difference(drawn, committed) < 1e-4, (
        f"{committed} is not what the code draws; draw it anew with: snakemake {name} -R figure"
    )


def _difference(one: Path, other: Path) -> float:
    """The share of pixels that differ visibly; 1 if the sizes do."""
    first, second = (matplotlib.image.imread(path)[..., :3] for path in (one, other))
    if first.shape != second.shape:
        return 1.0
    return float((np.abs(first - second).max(axis=-1) > 0.25).mean())


def test_a_difference_is_seen(tmp_path):
    canvas = np.ones((400, 600, 3))
    matplotlib.image.imsave(tmp_path / "one.png", canvas)
    assert _difference(tmp_path / "one.png", tmp_path / "one.png") == 0
    canvas[100:106, 100:106] = 0  # a marker that has moved
    matplotlib.image.imsave(tmp_path / "other.png", canvas)
    assert _difference(tmp_path / "one.png", tmp_path / "other.png") == pytest.approx(1.5e-4)


def test_there_is_one_picture_of_each_figure_and_no_other():
    assert {path.stem for path in PICTURES.glob("*.png")} == set(FIGURES)
    assert not list((ROOT / "docs").rglob("*.png"))


def test_every_picture_is_shown_and_every_link_leads_to_one():
    shown = [
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text())
    ]
    assert set(shown) == {PICTURES / f"{name}.png" for name in FIGURES}
