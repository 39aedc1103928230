"""Every block of docs/extending.md is run: a package, its tests, its figure, and a template."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ci_scripts import ci_script
from small_project import PARTS

from untruncated.catalogue import lookup
from untruncated.catalogue.strangers import STRANGERS
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.widths import resolve_width
from untruncated.pages.figures import Figures
from untruncated.pages.render import render_pages
from untruncated.tables.panel_tables import write_panel

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with what Snakemake needs and the page's files, after the page's commands."""
    newcomer, folder = ci_script("newcomer"), tmp_path_factory.mktemp("own")
    for part in PARTS:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
    newcomer.write(PAGE, folder)
    (commands,) = (text for language, text in BLOCKS if language == "sh")
    done = subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    return folder


def test_no_block_is_left_out():
    files = ci_script("newcomer").files(PAGE)
    others = [language for language, text in BLOCKS if text not in files.values()]
    assert others == ["sh", "jinja"]
    assert len(files) == len(BLOCKS) - 2 >= 6


def test_the_figure_of_own_components_is_drawn(project):
    assert (project / "figures/smoke/mine_figure1.png").read_bytes().startswith(b"\x89PNG")
    rows = {}
    for panel in "ab":
        with open(project / f"results/smoke/tables/smoke/mine_figure1{panel}.csv") as table:
            rows |= {row["label"]: row for row in csv.DictReader(table)}
    assert set(rows) == {"leaky integrator", "SPSA", "PES"}
    leaky = rows["leaky integrator"]
    assert leaky["cell"] == "my_package.cells:Leaky"
    assert int(float(leaky["parameters"])) == 8 * 2
    assert int(float(leaky["flops"])) == 3 * 8 * 4


def test_the_page_has_one_of_each_kind(project, monkeypatch):
    monkeypatch.syspath_prepend(project)
    experiment = next(text for language, text in BLOCKS if language == "yaml")
    named = re.findall(r"(my_package\.(\w+)s:\w+)", experiment)
    kinds = {kind: name for name, kind in named}
    assert set(kinds) == set(STRANGERS)
    for kind, name in kinds.items():
        assert lookup(kind, name, kind).location == name
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {kind} |"))
        formulas = STRANGERS[kind].formulas
        assert f"`{STRANGERS[kind].__name__}`" in row
        assert all(f"`{formula}`" in row for formula in formulas)
    budget = {"name": kinds["cell"], "width": {"flops": 1000}}
    assert resolve_width(budget, {"name": "rtrl"}, 1, "cell")["width"] == 1000 // 12


def test_the_template_renders(tmp_path):
    (template,) = (text for language, text in BLOCKS if language == "jinja")
    (tmp_path / "page.md").write_text(template)
    figure, runs = load_figures(ROOT / "experiments", "small")["rtu_figure2"], ROOT / "results/runs"
    write_panel(figure, figure.panels["a"], runs, tmp_path / "rtu_figure2a.csv")
    text = render_pages(tmp_path, Figures(tmp_path))["page.md"]
    assert re.search(r"The linear RTU, 0\.\d+ ± 0\.\d+, against the GRU: ahead at every T", text)
