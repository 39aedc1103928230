"""The committed pages are what their templates make of the committed results, and of any others."""

from pathlib import Path

import numpy as np
import pytest

from untruncated.experiments.expansion import load_figures
from untruncated.experiments.plan import make_plan
from untruncated.pages.figures import Figures
from untruncated.pages.render import page_templates, render_pages
from untruncated.tables.panel_tables import write_panel

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "docs" / "templates"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The tables of every panel, from the results that the repository ships."""
    folder = tmp_path_factory.mktemp("tables")
    for figure in load_figures(ROOT / "experiments", "small").values():
        for panel in figure.panels.values():
            if panel.points:
                output = folder / f"{figure.name}{panel.name}.csv"
                write_panel(figure, panel, ROOT / "results" / "runs", output)
    return Figures(folder)


class Others(Figures):
    """The same tables with other numbers, in which a share of all members has diverged."""

    def __init__(self, figures, diverged):
        super().__init__("")
        self.figures, self.diverged = figures, diverged

    def _read(self, panel):
        table, rng = self.figures.table(panel).copy(), np.random.default_rng(0)
        learned = (table["stage"] != "baseline") & table["seed"].notna()
        table["value"] *= np.where(learned, np.exp(rng.normal(size=len(table))), 1.0)
        lost = learned & (table["metric"] == "msre") & (rng.random(len(table)) < self.diverged)
        table["diverged"] |= lost.astype("boolean")
        return table.assign(value=table["value"].mask(lost))


def test_all_renders_the_pages_where_the_committed_results_are_meant(monkeypatch):
    monkeypatch.chdir(ROOT)
    plan = make_plan({})
    pages = [f"docs/{path.name}" for path in page_templates(TEMPLATES)]
    assert plan.pages == pages and len(pages) == 4
    targets = plan.targets()
    assert targets["all"][-4:] == pages
    assert not set(pages) & set(targets["figure2"])
    sources = set(plan.page_sources())
    assert {"docs/templates/pes.md", "docs/templates/_how_to_read.txt"} <= sources
    assert {
        "results/tables/small/pes_figure4a.csv",
        "results/tables/small/rtu_figure2d.csv",
    } < sources
    for config in (
        {"scale": "smoke"},
        {"results": "mine"},
        {"experiments": str(ROOT / "experiments")},
    ):
        assert make_plan(config).pages == []


def test_every_page_is_what_its_template_makes_of_the_results(figures):
    pages = render_pages(TEMPLATES, figures)
    assert set(pages) == {path.name for path in page_templates(TEMPLATES)}
    stale = [name for name, text in pages.items() if (ROOT / "docs" / name).read_text() != text]
    assert not stale, "make them anew with: snakemake docs"


@pytest.mark.parametrize("diverged", [0.1, 1.0])
def test_pages_can_be_made_of_other_results(figures, diverged):
    """Words and numbers follow the tables; no template relies on what the results happen to be."""
    for name, text in render_pages(TEMPLATES, Others(figures, diverged)).items():
        assert text != (ROOT / "docs" / name).read_text()
        assert "nan" not in text.split()
