"""The command line: what a user can get wrong ends in one message and a code that is not zero."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from untruncated import cli
from untruncated.cli import main
from untruncated.datasets import folders, penn_treebank
from untruncated.experiments.spec import resolve_run

ROOT = Path(__file__).parents[1]
SPEC = {
    "program": "optimal_prediction",
    "steps": 200,
    "environment": {"name": "trace_conditioning"},
    "seeds": [0, 1],
}


@pytest.fixture
def command(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "is no run"),
        ("no/such/file.json", "is no run"),
        ("0123456789abcdef", "asks for a run 0123456789abcdef"),
        ("{", "not JSON"),
        ("{}", "spec.program: is missing"),
        (json.dumps({**SPEC, "steps": "many"}), "spec.steps: must be a whole number"),
        (json.dumps({**SPEC, "program": "optimal_predict"}), "did you mean 'optimal_prediction'"),
        (json.dumps({**SPEC, "semantics": 9}), "semantics"),
        ('{"a":' * 100_000, "not JSON"),
        ('{"steps": ' + "9" * 10_000 + "}", "not JSON"),
        ('{"schema": 2}', "has result schema 2"),
        ('{"schema": true}', "not a result file"),
    ],
)
def test_a_bad_spec_is_refused(command, tmp_path, spec, message):
    code, out, err = command("run", spec, "--results", str(tmp_path))
    assert code == 1
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in out + err
    assert not list(tmp_path.rglob("*.json"))


def test_a_final_run_without_its_tuning_run_names_the_file(command, tmp_path):
    final = {
        "program": "online_prediction",
        "steps": 200,
        "environment": "trace_conditioning",
        "cell": {"name": "gru", "width": 1},
        "credit": {"name": "truncated_bptt", "truncation": 1},
        "learner": "td",
        "tuning": "0123456789abcdef",
        "seeds": [1000],
    }
    code, _, err = command("run", json.dumps(final), "--results", str(tmp_path))
    assert code == 1
    assert "0123456789abcdef.json" in err
    assert "does not exist" in err


def test_parts_that_do_not_fit_and_data_that_is_not_here_are_told(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "treebank", None)
    monkeypatch.setenv("UNTRUNCATED_DATA", str(tmp_path))
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path)
    penn_treebank.load.cache_clear()
    pes = {"name": "pes", "particles": 2, "sigma": 0.1, "truncation": 10}
    lstm = {"name": "character_lstm", "text": "penn_treebank"}
    specs = {
        "the Penn Treebank is not on this machine": {
            "program": "estimator_variance",
            "problem": lstm,
            "estimator": pes,
        },
        "needs a loss of a state of two numbers, which problem 'influence_balancing'": {
            "program": "inner_surface",
            "problem": "influence_balancing",
            "steps": 3,
            **{f"{end}_{axis}": 1.0 for end in ("low", "high") for axis in (0, 1)},
        },
    }
    for message, spec in specs.items():
        spec = json.dumps({**spec, "seeds": [0]})
        code, out, err = command("run", spec, "--results", str(tmp_path / "results"))
        assert code == 1
        assert err.startswith(("error: run ", "error: the spec given: ")) and message in err
        assert "Traceback" not in out + err


@pytest.mark.parametrize("seconds", ["nan", "-0.5", "inf", "soon", ""])
def test_seconds_between_checkpoints_are_a_number_from_0_on(capsys, seconds):
    with pytest.raises(SystemExit) as stop:
        main(["run", json.dumps(SPEC), f"--checkpoint-seconds={seconds}"])
    assert stop.value.code == 2
    assert "must be a number of seconds from 0 on, not" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["sys.exit(0)", "exit()", "raise SystemExit"])
def test_a_module_that_ends_the_process_gives_a_message(command, tmp_path, monkeypatch, ending):
    (tmp_path / "leaving.py").write_text(f"import sys\n{ending}\n")
    monkeypatch.syspath_prepend(tmp_path)
    agent = {"cell": {"name": "leaving:Cell"}, "credit": {"name": "rtrl"}}
    agent |= {"learner": {"name": "td"}, "step_sizes": [0.1]}
    spec = {**SPEC, "program": "online_prediction", **agent}
    code, out, err = command("run", json.dumps(spec), "--results", str(tmp_path))
    assert (code, out) == (1, "")
    assert "'leaving:Cell' cannot be imported: its module ends the process" in err


def test_whatever_ends_a_command_early_has_not_succeeded(command, monkeypatch):
    monkeypatch.setattr("untruncated.commands.status.print_status", lambda *_: sys.exit(0))
    code, _, err = command("status")
    assert (code, err) == (1, "error: a module ended the process (sys.exit(0))\n")


def test_results_that_cannot_be_written(command, tmp_path):
    (tmp_path / "results").write_text("a file where a folder should be")
    code, out, err = command("run", json.dumps(SPEC), "--results", str(tmp_path / "results"))
    assert code == 1
    assert err.startswith("error: could not")
    assert "Traceback" not in out + err


def test_one_run_by_json_by_spec_file_and_by_result_file(command, tmp_path):
    name = resolve_run(SPEC).hash
    code, out, _ = command("run", json.dumps(SPEC), "--results", str(tmp_path), "--no-progress")
    path = tmp_path / "runs" / f"{name}.json"
    assert (code, out.strip()) == (0, str(path))
    first = json.loads(path.read_text())
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    for source in (path, tmp_path / "spec.json"):
        assert command("run", str(source), "--results", str(tmp_path), "--no-progress")[0] == 0
        assert json.loads(path.read_text())["metrics"] == first["metrics"]
    code, out, _ = command("verify", "--results", str(tmp_path))
    assert (code, out.strip()) == (0, f"1 of 1 result files in {tmp_path}/runs are sound")
    path.write_text(path.read_text().replace('"steps": 200', '"steps": 300', 1))
    code, _, err = command("verify", "--results", str(tmp_path))
    assert code == 1
    assert f"{path}" in err
    assert "cannot be computed again" in err  # nobody else asks for it, and its spec is edited
    edited = path.read_text()
    code, _, err = command("run", str(path), "--results", str(tmp_path))
    assert code == 1 and f"{path}: the spec does not have the recorded hash {name}" in err
    path.write_text(edited.replace('"schema": 1', '"schema": 2'))
    for source in (str(path), json.dumps(SPEC)):
        code, _, err = command("run", source, "--results", str(tmp_path))
        assert code == 1 and f"{path}: the file has result schema 2" in err
    assert path.read_text() == edited.replace('"schema": 1', '"schema": 2')


def test_an_output_that_is_no_file_is_refused_before_computing(command, tmp_path):
    for output in ("", str(tmp_path)):
        code, out, err = command("run", json.dumps(SPEC), "--output", output)
        assert (code, out) == (1, "")
        assert "is a folder; name a file" in err


FULL = "error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    ("after", "code", "message"), [("| true", 0, ""), (">&-", 0, ""), (">/dev/full", 1, FULL)]
)
def test_output_that_nobody_takes_ends_without_a_traceback(after, code, message):
    command = [sys.executable, "-m", "untruncated.cli", "status", "rtu_figure7"]
    line = f"{shlex.join([*command, '--experiments', f'{ROOT}/experiments'])} {after}"
    shell = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)


def test_a_run_whose_progress_nobody_reads_has_not_succeeded(tmp_path):
    command = [sys.executable, "-m", "untruncated.cli", "run", json.dumps(SPEC)]
    line = f"{shlex.join([*command, '--results', str(tmp_path)])} 2>&1 >/dev/null | true"
    code = subprocess.run(["bash", "-o", "pipefail", "-c", line], check=False).returncode
    assert (code == 0) == bool(list(tmp_path.glob("runs/*.json")))


def test_status_lists_configurations_and_says_whether_all_is_done(command, tmp_path):
    code, out, _ = command("status", "figure2a", "--results", str(tmp_path))
    assert code == 1
    assert "gru of width 22, truncated_bptt 1" in out
    assert "3 missing" in out
    missing = str(tmp_path / "missing")
    code, out, err = command("status", "figure2a", "--results", missing)
    assert (code, out) == (1, "")
    assert err == f"error: {missing}: no such folder; --results names the folder that has runs/\n"
    code, _, err = command("status", "figure22")
    assert code == 1
    assert "did you mean" in err


@pytest.mark.parametrize("name", ["rtu_figure2z", "figure2", ""])
def test_unknown_panels_and_figures(command, name):
    code, _, err = command("table", name)
    assert code == 1
    assert "unknown panel" in err


def test_a_drawing_has_no_table(command, tmp_path):
    code, _, err = command("table", "rtu_figure21a", "--output", str(tmp_path / "table.csv"))
    assert code == 1 and not list(tmp_path.iterdir())
    assert err == "error: rtu_figure21a is a drawing: it has no runs, and so no table\n"


def test_a_figure_is_drawn_by_any_of_its_names(command, tmp_path):
    output = tmp_path / "figure.png"
    assert command("plot", "figure7", "--output", str(output))[0] == 0 and output.exists()
    code, _, err = command("plot", "figure10", "--output", str(output))
    names = "pes_figure10, rtu_figure10"
    assert code == 1
    assert err == f"error: figure10 stands for 2 drawings; name one: {names}\n"
    code, _, err = command("plot", "figuer7", "--output", str(output))
    assert code == 1 and "unknown figure 'figuer7' (did you mean 'figure7'?)" in err


def test_show_prints_one_episode(command):
    code, out, err = command("show", "CountRecallEasy", "--policy", "optimal", "--seed", "3")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("CountRecall: at every step a card is shown and another asked for")
    assert "The action is the number" in lines[1]
    assert lines[2].startswith("Actions: 0 to 26. sees: ")
    assert len(lines) == 57
    assert lines[4].startswith("reset ")
    assert lines[-1] == "terminated after 51 steps, return +1.0000"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("CountRecalEasy",),
            "unknown environment 'CountRecalEasy' (did you mean 'CountRecallEasy'?)",
        ),
        (("RepeatFirstEasy", "--fidelity", "reference"), "environment.fidelity"),
        (("PositionOnlyPendulumEasy", "--policy", "optimal"), "no optimal policy"),
        (("RepeatFirstEasy", "--seed", "9" * 20), "--seed must be from 0 to 4294967295"),
        (("RepeatFirstEasy", "--steps", "0"), "--steps must be at least 1, not 0"),
        (("RepeatFirstEasy", "--output", "x"), "--output is for a web page, as of ant-P, ant-V"),
        (("ant-Q",), "unknown environment 'ant-Q' (did you mean 'ant-V'?)"),
        (("hopper-P", "--policy", "optimal"), "no optimal policy of BraxPOMDP is known"),
        (("three_state_mpd",), "did you mean 'three_state_mdp'?"),
        (("three_state_mdp", "--policy", "optimal"), "three_state_mdp has none"),
        (("trace_conditioning", "--fidelity", "reference"), "environment.fidelity"),
        (("trace_conditioning", "--steps", "100001"), "--steps must be at most 100000"),
    ],
)
def test_show_refuses_what_it_cannot_show(command, arguments, message):
    code, out, err = command("show", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("error: ") and message in err
    assert "Traceback" not in err


def test_a_signal_in_a_finaliser_is_not_lost(command, monkeypatch):
    """What is raised there, Python ignores."""
    after = []

    class Finalised:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    def docs(options: object) -> int:
        Finalised()  # gone at once
        time.sleep(10)
        after.append(True)
        return 0

    monkeypatch.setitem(cli.COMMANDS, "docs", docs)
    code, _, err = command("docs")
    assert (code, err, after) == (143, "error: stopped\n", [])
