"""Every figure of the suite as the cached results give it, for the tests of how it looks."""

from functools import cache
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Canvas

from untruncated.basics.errors import ResultError
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.figures import Figure
from untruncated.plots.layout import lay_out
from untruncated.plots.style import styled
from untruncated.tables.panel_tables import read_table, write_panel

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def figures() -> dict[str, Figure]:
    """All figures at the cached scale."""
    return load_figures(ROOT / "experiments", "small")


@pytest.fixture(scope="session")
def canvases(figures, tmp_path_factory):
    """A figure's canvas by its name, each drawn once; what is not computed yet is skipped."""
    folder = tmp_path_factory.mktemp("tables")

    @cache
    def canvas(name: str) -> Canvas:
        figure, tables = figures[name], {}
        panels = list(figure.panels.values())
        for panel in panels:
            if panel.points:
                path = folder / f"{name}{panel.name}.csv"
                try:
                    write_panel(figure, panel, ROOT / "results" / "runs", path)
                except ResultError:
                    pytest.skip(f"{name} lacks runs")
                tables[panel.name] = read_table(path)
        with styled():
            drawn = lay_out(figure, panels, tables)
            drawn.canvas.draw()
        return drawn

    return canvas
