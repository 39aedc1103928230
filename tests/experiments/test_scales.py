"""The scale `medium`, and what a file shows there that does not have it."""

import copy
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.commands.status import print_status
from untruncated.experiments.expansion import load_figure, load_figures
from untruncated.experiments.figures import SCALES, Figure
from untruncated.experiments.finding import Runs
from untruncated.experiments.plan import make_plan
from untruncated.plots.face import face

ROOT = Path(__file__).parents[2]
NUMBERS = {"steps": 1000, "step_sizes": [1e-3, 1e-2], "final_blocks": 1}
OWN = {
    "paper": "rtu",
    "title": "A title",
    "shared": {
        "program": "online_prediction",
        "environment": "trace_conditioning",
        "learner": "td",
        "credit": "rtrl",
    },
    "seeds": {"tuning": 0, "final": 1000},
    "scales": {name: NUMBERS for name in ("smoke", "small", "paper")},
    "panels": {
        "a": {
            "title": "T",
            "plot": {"name": "sweep_lines", "x": "parameters", "x_label": "parameters"},
            "curves": {"linear_rtu": {"cell": {"name": "linear_rtu", "width": 3}}},
        }
    },
}
BORROWED = {
    "paper": "rtu",
    "title": "A title",
    "panels": {
        "a": {
            "title": "T",
            "plot": {"name": "step_sizes", "legend_title": "units"},
            "curves_of": {"figure": "figure8", "panels": ["a"], "curves": ["linear_rtu"]},
        }
    },
}


def write(folder: Path, medium: dict | None) -> Path:
    """An experiments folder: figure 8, figure 9 of its runs, and what a figure 8 at medium has."""
    own = copy.deepcopy(OWN)
    if medium is not None:
        own["scales"]["medium"] = medium
    (folder / "rtu").mkdir(parents=True)
    for name, tree in (("figure8", own), ("figure9", BORROWED)):
        (folder / "rtu" / f"{name}.yaml").write_text(yaml.safe_dump(tree))
    return folder


def at(folder: Path, scale: str) -> tuple[Figure, Figure]:
    figures = load_figures(folder, scale)
    assert not figures.broken
    return figures["rtu_figure8"], figures["rtu_figure9"]


def test_a_file_without_medium_has_the_runs_of_small_there(tmp_path):
    folder = write(tmp_path, None)
    for small, medium in zip(at(folder, "small"), at(folder, "medium"), strict=True):
        assert list(medium.runs) == list(small.runs) != []
        assert medium.scale == "medium"
        assert medium.panels["a"].scale == "small"


def test_a_file_with_medium_has_its_numbers_and_lends_them(tmp_path):
    folder = write(tmp_path, NUMBERS | {"steps": 3000})
    for figure in at(folder, "medium"):
        assert figure.panels["a"].scale == "medium"
        assert {run.fields["steps"] for run in figure.runs.values()} == {3000}
    assert not {*at(folder, "medium")[0].runs} & {*at(folder, "small")[0].runs}


def test_all_other_scales_are_their_own(tmp_path):
    folder = write(tmp_path, None)
    for scale in set(SCALES) - {"medium"}:
        assert [figure.panels["a"].scale for figure in at(folder, scale)] == [scale, scale]


def test_what_is_wrong_at_medium_is_told_where_it_stands(tmp_path):
    folder = write(tmp_path, None)
    path = folder / "rtu" / "figure8.yaml"
    tree = yaml.safe_load(path.read_text())
    del tree["scales"]["small"]["steps"]
    path.write_text(yaml.safe_dump(tree))
    with pytest.raises(SpecError, match=r"figure8\.yaml: scales\.small\.steps: is missing"):
        load_figure(path, "medium")
    tree["scales"]["medium"] = {"step_sizes": [1e-3]}
    path.write_text(yaml.safe_dump(tree))
    with pytest.raises(SpecError, match=r"figure8\.yaml: scales\.medium\.steps: is missing"):
        load_figure(path, "medium")


@pytest.mark.parametrize("shown", ["small", "medium"])
def test_a_picture_and_the_status_say_which_scale_they_show(shown, tmp_path, capsys):
    folder = write(tmp_path / "experiments", NUMBERS if shown == "medium" else None)
    columns = "repeat stage step_size seed run diverged at_edge fidelity machine"
    row = [None, "final", 1e-3, 1000, "x", False, False, "exact", ""]
    rows = pd.DataFrame([row], columns=columns.split()).astype({"at_edge": "boolean"})
    for figure in at(folder, "medium"):
        assert f"Scale {shown}: 1,000 steps" in face(figure, figure.panels.values(), {"a": rows})
    (tmp_path / "results").mkdir()
    print_status("rtu", "medium", folder, tmp_path / "results")
    headings = [line for line in capsys.readouterr().out.splitlines() if line[0] != " "]
    told = "(scale medium)" if shown == "medium" else "(scale medium, as small)"
    assert [heading.endswith(told) for heading in headings] == [True, True]


def test_medium_has_folders_of_its_own_beside_the_committed_results(tmp_path):
    plan = make_plan({"experiments": str(write(tmp_path, NUMBERS)), "scale": "medium"})
    assert plan.results == "results"
    assert plan.tables("rtu_figure8", "") == ["results/tables/medium/rtu_figure8a.csv"]
    assert "figures/medium/rtu_figure8.png" in plan.targets()["figure8"]
    assert plan.pages == []


def test_a_run_of_medium_is_found_by_its_name(tmp_path):
    folder = write(tmp_path, NUMBERS | {"steps": 3000})
    name = next(iter(at(folder, "medium")[0].runs))
    run, scale = Runs(folder)[name]
    assert (run.hash, scale) == (name, "medium")


def test_a_plan_has_the_runs_of_every_scale_by_name(tmp_path):
    folder = write(tmp_path, NUMBERS | {"steps": 3000})
    plan = make_plan({"experiments": str(folder), "scale": "smoke"})
    for scale in SCALES:
        for name, run in at(folder, scale)[0].runs.items():
            assert plan.run(name).json == run.json
            assert plan.tuning_path(name) == (
                [f"{plan.results}/runs/{run.tuning}.json"] if run.tuning else []
            )


def test_pictures_of_the_committed_scales_are_kept_and_nothing_else_of_them(tmp_path):
    (tmp_path / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for scale in SCALES:
        (tmp_path / "figures" / scale).mkdir(parents=True)
        for suffix in ("png", "pdf"):
            (tmp_path / "figures" / scale / f"x.{suffix}").touch()
    command = ["git", "ls-files", "--others", "--exclude-standard", "figures"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert listed.stdout.split() == ["figures/medium/x.png", "figures/small/x.png"]
    command = ["make", "-n", "clean"]
    cleaned = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pictures = {word for word in cleaned.split() if word.startswith("figures/")}
    assert pictures == {f"figures/{s}" for s in ("smoke", "paper", "small/*.pdf", "medium/*.pdf")}
