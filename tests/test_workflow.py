"""The workflow as its users meet it: real Snakemake calls, on a small project and the shipped one.

A project of two cells and a few hundred steps is computed once; the tests copy it.
"""

import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from small_project import PARTS, make_project, small_figure, snakemake, write_figure

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow

SCALE = {"steps": 400, "step_sizes": [1e-3, 3e-3], "final_blocks": 1, "lists": {"widths": [2]}}
FIGURE = small_figure(
    {
        "linear_rtu": {
            "cell": {"name": "linear_rtu", "width": "$width"},
            "credit": "rtrl",
            "sweep": {"width": "widths"},
        },
        "gru": {
            "cell": {"name": "gru", "width": "$width"},
            "credit": {"name": "truncated_bptt", "truncation": 2},
            "sweep": {"width": "widths"},
        },
    },
    SCALE,
    plot={"name": "sweep_lines", "x": "width", "x_label": "units"},
    baseline={"label": "Bayes-optimal", "program": "optimal_prediction"},
)


STEP_SIZES = {
    "paper": "rtu",
    "title": "Step sizes of the GRU",
    "panels": {
        "a": {
            "title": "GRU",
            "plot": "step_sizes",
            "curves_of": {"figure": "figure9", "panels": ["a"], "curves": ["gru"]},
        }
    },
}


def planned(folder: Path, *arguments: str, **environment: str) -> dict[str, int]:
    """Jobs by rule that a dry run plans, without target rules; empty if nothing is to be done."""
    done = snakemake(folder, "-n", *arguments, **environment)
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout, flags=re.MULTILINE))
    return {rule: int(counts[rule]) for rule in ("run", "table", "figure") if rule in counts}


def scramble_times(folder: Path, seed: int) -> None:
    """File times as a checkout leaves them: in no order."""
    rng = random.Random(seed)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".git" not in path.parts:
            time = 1_700_000_000 + rng.randrange(10_000_000)
            os.utime(path, (time, time))


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    folder = make_project(tmp_path_factory.mktemp("workflow") / "project", FIGURE)
    done = snakemake(folder, "figure9", "--cores", "2", NPROC="7")
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture
def project(computed, tmp_path):
    return shutil.copytree(computed, tmp_path / "project", copy_function=shutil.copy2)


@pytest.fixture
def clone(computed, tmp_path):
    """What a fresh clone holds: everything committed, results/runs among it, nothing made."""
    folder = make_project(tmp_path / "clone", FIGURE)
    shutil.copytree(computed / "results" / "runs", folder / "results" / "runs")
    (folder / "figures" / "small").mkdir(parents=True)
    for picture in (computed / "figures" / "small").glob("*.png"):
        shutil.copy(picture, folder / "figures" / "small")
    return folder


def test_drawing_in_a_fresh_clone_changes_no_picture(clone, computed):
    done = snakemake(clone, "figure9", "--cores", "2")
    assert done.returncode == 0, done.stdout
    drawn, committed = (folder / "figures/small/rtu_figure9.png" for folder in (clone, computed))
    assert (clone / "figures/small/rtu_figure9.pdf").exists()
    assert drawn.read_bytes() == committed.read_bytes()


def test_one_command_computes_and_draws(computed):
    for suffix, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert (computed / f"figures/small/rtu_figure9.{suffix}").read_bytes().startswith(start)
    assert len(list((computed / "results/runs").glob("*.json"))) == 5
    table = (computed / "results/tables/small/rtu_figure9a.csv").read_text()
    assert "Bayes-optimal" in table
    assert planned(computed, "figure9") == {}
    assert not list((computed / "results/checkpoints").glob("*.npz"))
    results = [json.loads(path.read_text()) for path in (computed / "results/runs").glob("*.json")]
    assert [result["provenance"]["nproc"] for result in results] == ["1"] * 5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fresh_clone_only_draws(clone, seed):
    scramble_times(clone, seed)
    assert planned(clone, "figure9") == {"table": 1, "figure": 1}


def test_commits_touches_and_comments_rerun_nothing_that_computes(project):
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-qm", "everything"]):
        subprocess.run([*git, *command], cwd=project, check=True)
    snakefile = project / "Snakefile"
    snakefile.write_text(snakefile.read_text() + "\n# a comment\n")
    (project / "experiments/rtu/figure9.yaml").touch()
    shutil.copytree(ROOT / "src", project / "src")
    gru = project / "src/untruncated/cells/gru.py"
    gru.write_text(gru.read_text() + "\nCHANGED = True\n")
    for command in (["add", "-A"], ["commit", "-qm", "a cell"]):
        subprocess.run([*git, *command], cwd=project, check=True)
    source = str(project / "src")
    where = subprocess.run(
        [sys.executable, "-c", "from untruncated.cells.gru import CHANGED"],
        env={**os.environ, "PYTHONPATH": source},
        check=False,
    )
    assert where.returncode == 0
    assert planned(project, "figure9") == {}
    # The package's new place is one for the modules that draw, so the figure is drawn again.
    assert planned(project, "figure9", PYTHONPATH=source) == {"figure": 1}


@pytest.mark.parametrize(("profile", "runs"), [("smoke", 25), ("slurm", 671)])
def test_profiles_plan_their_scale(profile, runs, tmp_path):
    folder = shutil.copytree(ROOT / "profiles", tmp_path / "project" / "profiles").parent
    for part in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / part, folder)
    shutil.copytree(ROOT / "experiments", folder / "experiments")
    scale = ["--config", "scale=paper"] if profile == "slurm" else []
    arguments = ["--workflow-profile", f"profiles/{profile}", "rtu_figure2", *scale]
    assert planned(folder, *arguments) == {"run": runs, "table": 4, "figure": 1}


def test_profiles_agree_in_what_each_must_repeat():
    paths = (ROOT / "profiles").glob("*/config.yaml")
    read = {path.parent.name: yaml.safe_load(path.read_text()) for path in paths}
    assert set(read) == {"default", "smoke", "slurm", "generic"}
    repeated = {key: value for key, value in read["default"].items() if key != "cores"}
    for settings in read.values():
        assert settings == {**settings, **repeated}


def test_a_changed_value_reruns_exactly_what_depends_on_it(project):
    changed = json.loads(json.dumps(FIGURE))
    changed["panels"]["a"]["curves"]["gru"]["credit"]["truncation"] = 3
    write_figure(project, changed)
    assert planned(project, "figure9") == {"run": 2, "table": 1, "figure": 1}
    write_figure(project, FIGURE)
    assert "run" not in planned(project, "figure9")


def test_without_computing_every_missing_run_is_named(clone):
    runs = clone / "results/runs"
    names = sorted(path.name for path in runs.glob("*.json"))
    for name in names[:2]:
        (runs / name).unlink()
    done = snakemake(clone, "figure9", "--cores", "1", "--config", "compute=false")
    assert done.returncode != 0
    assert "2 of its 5 runs are missing" in done.stdout
    assert all(name in done.stdout for name in names[:2])
    assert "snakemake rtu_figure9a" in done.stdout
    assert sorted(path.name for path in runs.glob("*.json")) == names[2:]


def test_a_figure_of_another_figures_tuning_runs_adds_no_run(clone):
    write_figure(clone, STEP_SIZES, "figure13")
    assert planned(clone, "figure13") == {"table": 1, "figure": 1}
    done = snakemake(clone, "figure13", "--cores", "1", "--config", "compute=false")
    assert done.returncode == 0, done.stdout
    with open(clone / "results/tables/small/rtu_figure13a.csv") as table:
        (run,) = {row["run"] for row in csv.DictReader(table)}
    (clone / f"results/runs/{run}.json").unlink()
    done = snakemake(clone, "figure13", "--cores", "1", "--config", "compute=false")
    assert done.returncode != 0
    assert "rtu_figure13a: 1 of its 1 runs are missing" in done.stdout
    assert f"{run}.json  gru of width 2, truncated_bptt 2, tuning" in done.stdout


def test_a_truncated_result_is_named_with_the_command_that_mends_it(clone):
    path = sorted((clone / "results/runs").glob("*.json"))[0]
    whole = json.loads(path.read_text())
    path.write_text(path.read_text()[:300])
    done = snakemake(clone, "figure9", "--cores", "1")
    assert done.returncode != 0
    relative = path.relative_to(clone)
    assert f"error: {relative}" in done.stdout or f"error: {path}" in done.stdout
    assert f"Compute it again with: untruncated run {relative}" in done.stdout
    assert "Traceback" not in done.stdout
    mended = snakemake(clone, "--cores", "1", "-f", str(relative))
    assert mended.returncode == 0, mended.stdout
    assert json.loads(path.read_text())["metrics"] == whole["metrics"]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["figure9", "--config", "scale=papr"], ["error: --config scale", "'paper'"]),
        (["figure9", "--config", "sclae=paper"], ["error: --config sclae", "'scale'"]),
        (["figur9"], ["error: unknown target 'figur9' (did you mean 'figure9'?)"]),
    ],
)
def test_a_typo_gives_a_message_and_runs_nothing(clone, arguments, parts):
    done = snakemake(clone, *arguments)
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    assert all(part in done.stdout for part in parts)


def test_a_broken_file_stops_its_own_figure_and_all_but_no_other(clone):
    broken = clone / "experiments" / "pes" / "table9.yaml"
    broken.parent.mkdir()
    broken.write_text("title: >\n\t=======\n")
    message = "experiments/pes/table9.yaml: line 2, column 1: not valid YAML: "
    done = snakemake(clone, "figure9", "--cores", "1")
    assert done.returncode == 0, done.stdout
    assert (clone / "figures/small/rtu_figure9.pdf").exists()
    assert done.stdout.count(f"warning: {message}") == done.stdout.count(message) == 1
    for target in ("pes_table9b", "all"):
        done = snakemake(clone, target, "--cores", "1")
        assert done.returncode == 1
        assert done.stdout.count(f"error: {message}") == 1
        assert "Traceback" not in done.stdout and "rule " not in done.stdout


def test_a_broken_experiment_file_stops_before_anything_runs(clone):
    broken = json.loads(json.dumps(FIGURE))
    broken["panels"]["a"]["curves"]["gru"]["cell"]["name"] = "gruu"
    write_figure(clone, broken)
    done = snakemake(clone, "figure9", "--cores", "1")
    assert done.returncode != 0
    error = [line for line in done.stdout.splitlines() if line.startswith("error: ")]
    assert len(error) == 1
    assert "figure9.yaml: panels.a.curves.gru.cell.name" in error[0]
    assert "did you mean 'gru'" in error[0]
    assert "Traceback" not in done.stdout
    assert not (clone / "results/tables").exists()


def test_a_cluster_retries_what_failed(clone):
    """The generic profile with its background submit script; one run fails the first time."""
    shutil.rmtree(clone / "results")
    figure = json.loads(json.dumps(FIGURE))
    for scale in figure["scales"].values():
        scale["final_blocks"] = 2
    write_figure(clone, figure)
    binaries = clone / "bin"
    binaries.mkdir()
    real = Path(sys.executable).parent / "untruncated"
    wrapper = binaries / "untruncated"
    wrapper.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = run ] && mkdir "{clone}/failed_once" 2>/dev/null; then exit 3; fi\n'
        f'exec "{real}" "$@"\n'
    )
    wrapper.chmod(0o755)
    snakefile = clone / "Snakefile"
    # the Snakefile puts its own environment first on the path; the wrapper must come before it
    text = snakefile.read_text()
    assert "PATH={BIN}" in text
    snakefile.write_text(text.replace("PATH={BIN}", f"PATH={binaries}"))
    done = snakemake(clone, "figure9", "--workflow-profile", "profiles/generic")
    assert done.returncode == 0, done.stdout
    assert (clone / "failed_once").is_dir()
    assert "retry" in done.stdout.lower() or "restart" in done.stdout.lower(), done.stdout
    assert len(list((clone / "results/runs").glob("*.json"))) == 8
    assert (clone / "figures/small/rtu_figure9.png").exists()


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shipped") / "project"
    folder.mkdir()
    for part in (*PARTS, "experiments"):
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
    shutil.copytree(ROOT / "results" / "runs", folder / "results" / "runs")
    return folder


def test_every_shipped_figure_is_drawn_from_cache(shipped):
    scramble_times(shipped, 7)
    assert planned(shipped, "figure2") == {"table": 4, "figure": 1}
    assert "run" not in planned(shipped, "all")


def test_figure_2_at_paper_scale_has_under_2000_jobs(shipped):
    jobs = planned(shipped, "rtu_figure2", "--config", "scale=paper")
    assert 100 < sum(jobs.values()) < 2000
