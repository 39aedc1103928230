"""Computing again: no way loses a sound result, and every command that a message prints works."""

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from small_project import make_project, small_figure, snakemake

from untruncated.cli import main
from untruncated.experiments.expansion import load_figure
from untruncated.results.result_files import canonical_json, read_result, spec_hash

FIGURE = small_figure(
    {"linear_rtu": {"cell": {"name": "linear_rtu", "width": 1}, "credit": "rtrl"}},
    {"steps": 60, "step_sizes": [3e-3], "final_blocks": 1},
)
PRINTED = re.compile(r"(?:with: |^ +)((?:untruncated|snakemake) .*?)$", re.MULTILINE)

pytestmark = pytest.mark.slow


def runs_of(experiments: Path) -> tuple[str, str]:
    """The hashes of the tuning and of the final run."""
    (point,) = load_figure(experiments / "rtu" / "figure9.yaml", "small").panels["a"].points
    return point.tuning.hash, point.finals[0].hash


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recomputing") / "project"
    make_project(folder, FIGURE, "my experiments")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in runs_of(Path("my experiments")):
            command = ["run", name, "--results", "2027_01", "--no-progress"]
            assert main([*command, "--experiments", "my experiments"]) == 0
    return folder


@pytest.fixture
def project(computed, tmp_path, monkeypatch):
    folder = shutil.copytree(computed, tmp_path / "project", copy_function=shutil.copy2)
    monkeypatch.chdir(folder)
    return folder


def follow(command: str) -> None:
    """Executes a command that a message printed, as a shell would take it apart."""
    program, *arguments = shlex.split(command)
    if program == "snakemake":
        done = snakemake(Path(), *arguments)
        assert done.returncode == 0, done.stdout
    else:
        assert main(arguments) == 0, command


def truncate(path: Path) -> None:
    path.write_text(path.read_text()[:400])


def edit_a_metric(path: Path) -> None:
    """A damage that leaves the spec in order."""
    document = json.loads(path.read_text())
    document["metrics"]["msre"]["values"][0][0] = 0.5
    path.write_text(json.dumps(document))


EXPERIMENTS = ("--experiments", "my experiments")
TABLE = ("table", "rtu_figure9a", *EXPERIMENTS)


def a_truncated_result(project, tuning, final):
    truncate(project / f"2027_01/runs/{tuning}.json")
    return ("verify", "--results", "2027_01", *EXPERIMENTS), 1


def an_edited_result_of_a_run_that_nobody_asks_for(project, tuning, final):
    shutil.rmtree(project / "my experiments")
    shutil.move(project / "2027_01", project / "a b's")
    edit_a_metric(project / f"a b's/runs/{final}.json")
    return ("verify", "--results", "a b's"), 1


def a_damaged_result_in_status(project, tuning, final):
    edit_a_metric(project / f"2027_01/runs/{final}.json")
    return ("status", "rtu_figure9", "--results", "2027_01", *EXPERIMENTS), 1


def a_result_of_another_run(project, tuning, final):
    runs = project / "2027_01/runs"
    shutil.copy(runs / f"{final}.json", runs / f"{tuning}.json")
    return ("verify", "--results", "2027_01", *EXPERIMENTS), 1


def a_damaged_result_for_a_table(project, tuning, final):
    truncate(project / f"2027_01/runs/{final}.json")
    return (*TABLE, "--results", "2027_01"), 1


def missing_results_for_a_table(project, tuning, final):
    (project / f"2027_01/runs/{final}.json").unlink()
    return (*TABLE, "--results", "2027_01"), 1


def missing_results_in_a_folder_of_ones_own(project, tuning, final):
    return (*TABLE, "--runs", "elsewhere", "--output", "x.csv"), 2


def a_truncated_table(project, tuning, final):
    assert main([*TABLE, "--results", "2027_01"]) == 0
    truncate(project / "2027_01/tables/small/rtu_figure9a.csv")
    return ("plot", "rtu_figure9", "--results", "2027_01", *EXPERIMENTS, "--output", "x.png"), 1


def a_final_run_without_its_tuning_run(project, tuning, final):
    return ("run", final, *EXPERIMENTS, "--output", "out of tree/x.json"), 1


SITUATIONS = [
    a_truncated_result,
    an_edited_result_of_a_run_that_nobody_asks_for,
    a_damaged_result_in_status,
    a_result_of_another_run,
    a_damaged_result_for_a_table,
    missing_results_for_a_table,
    missing_results_in_a_folder_of_ones_own,
    a_truncated_table,
    a_final_run_without_its_tuning_run,
]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_command_that_a_message_prints_mends_it(situation, project, capsys):
    tuning, final = runs_of(project / "my experiments")
    arguments, commands = situation(project, tuning, final)
    capsys.readouterr()
    assert main(list(arguments)) == 1
    captured = capsys.readouterr()
    printed = PRINTED.findall(captured.err + captured.out)
    assert len(printed) == commands, captured
    for command in printed:
        follow(command)
    assert main(list(arguments)) == 0


def test_a_run_known_by_another_name_now_is_computed_under_that_one(project, capsys):
    tuning, _ = runs_of(project / "my experiments")
    runs = project / "2027_01/runs"
    document = json.loads((runs / f"{tuning}.json").read_text())
    spec = document["spec"]
    spec["precision"] = "float32"  # the default, which a canonical spec leaves out
    checked = {key: document[key] for key in ("spec", "axes", "metrics", "choices", "diverged")}
    document["hash"] = spec_hash(spec)
    document["checksum"] = hashlib.sha256(canonical_json(checked).encode()).hexdigest()
    old = runs / f"{document['hash']}.json"
    old.write_text(json.dumps(document))
    (runs / f"{tuning}.json").unlink()
    assert main(["verify", "--results", "2027_01", *EXPERIMENTS]) == 1
    err = capsys.readouterr().err
    assert f"this version names the run {tuning}" in err
    (command,) = PRINTED.findall(err)
    follow(command)
    old.unlink()
    assert main(["verify", "--results", "2027_01", *EXPERIMENTS]) == 0


def test_no_command_is_named_where_none_can_help(project, capsys):
    tuning, _ = runs_of(project / "my experiments")
    truncate(project / f"2027_01/runs/{tuning}.json")
    shutil.rmtree(project / "my experiments" / "rtu")
    assert main(["verify", "--results", "2027_01", *EXPERIMENTS]) == 1
    err = capsys.readouterr().err
    assert "cannot be computed again: neither the file nor an experiment file under my exp" in err
    assert not PRINTED.findall(err)


def test_a_result_named_by_its_file_is_written_beside_it(project, capsys):
    _, final = runs_of(project / "my experiments")
    shutil.copytree(project / "2027_01", project / "other place")
    path = project / f"other place/runs/{final}.json"
    before = path.stat().st_ino
    assert main(["run", str(path), *EXPERIMENTS]) == 0
    assert path.stat().st_ino != before
    assert capsys.readouterr().out == f"{path}\n"
    assert not (project / "results").exists()
    path.unlink()  # a name is enough where an experiment file asks for the run
    assert main(["run", str(path), *EXPERIMENTS]) == 0
    read_result(path)


@pytest.mark.parametrize("profile", [(), ("--workflow-profile", "profiles/generic")])
def test_snakemake_keeps_an_old_result_until_the_new_one_is_there(profile, project):
    """Here it never comes: a later version of the suite wrote the old one, so the run refuses."""
    tuning, _ = runs_of(project / "my experiments")
    path = project / f"2027_01/runs/{tuning}.json"
    later = path.read_text().replace('"schema": 1', '"schema": 7', 1)
    path.write_text(later)
    config = ("--config", "results=./2027_01", "experiments=my experiments")
    retries = ("--retries", "0")
    done = snakemake(Path(), "-f", f"2027_01/runs/{tuning}.json", *profile, *retries, *config)
    assert done.returncode != 0, done.stdout
    assert path.read_text() == later
