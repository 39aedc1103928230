"""The committed pages are what their templates make of the committed results, and of any others."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from untruncated.pages.render import page_templates, render_pages
from untruncated.suite.expansion import load_figures
from untruncated.suite.tables import read_table, write_panel

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "docs" / "templates"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The tables of every panel, from the results that the repository ships."""
    folder = tmp_path_factory.mktemp("tables")
    for figure in load_figures(ROOT / "experiments", "small").values():
        for panel in figure.panels.values():
            if panel.points:
                output = folder / f"{figure.name}{panel.name}.csv"
                write_panel(figure, panel, ROOT / "results" / "runs", output)
    return folder


def test_every_page_is_what_its_template_makes_of_the_results(tables):
    pages = render_pages(TEMPLATES, tables)
    assert set(pages) == {path.name for path in page_templates(TEMPLATES)}
    stale = [name for name, text in pages.items() if (ROOT / "docs" / name).read_text() != text]
    assert not stale, "make them anew with: snakemake docs"


@pytest.mark.parametrize("spoilt", [0.0, 0.1, 1.0], ids=["sound", "some diverged", "all diverged"])
def test_pages_can_be_made_of_other_results(tables, tmp_path, spoilt):
    """Words and numbers follow the tables; no template relies on what the results happen to be."""
    rng = np.random.default_rng(0)
    for path in tables.glob("*.csv"):
        table = read_table(path)
        learned = (
            (table["stage"] != "baseline") & table["seed"].notna() & table["curve_step"].isna()
        )
        table["value"] *= np.where(learned, np.exp(rng.normal(size=len(table))), 1.0)
        lost = learned & (table["metric"] == "msre") & (rng.random(len(table)) < spoilt)
        table["value"] = table["value"].mask(lost)
        table["diverged"] = (table["diverged"] | lost).astype("boolean")
        pd.DataFrame(table).to_csv(tmp_path / path.name, index=False)
    pages = render_pages(TEMPLATES, tmp_path)
    for name, text in pages.items():
        assert text != (ROOT / "docs" / name).read_text()
        assert "nan" not in text.split()
