"""Commands in terminals that have few letters, on machines without a home, among closed folders."""

import io
import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

from untruncated import cli
from untruncated.basics.messages import fitted
from untruncated.basics.places import name_user
from untruncated.cli import main
from untruncated.experiments.expansion import load_figure

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("status", "companion_unrolls"), "ES, sigma = 0.01"),
        (("status", "Ωmega \udcff"), "unknown target"),
        (("show", "RepeatFirstEasy", "--steps", "1"), "sees "),
        (("run", '{"program": "π→"}'), "pi->"),
        (("table", "rtu_figurℝ9"), r"rtu_figur\u211d9"),
        (("verify", "--results", "résultats·"), "no result files here"),
        (("--help",), "command"),
        (("show", "--help"), "three_state_mdp"),
    ],
)
def test_output_is_spelled_in_the_letters_that_there_are(encoding, words, shown, monkeypatch):
    monkeypatch.chdir(ROOT)
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    try:
        main(words)
    except SystemExit as end:
        assert end.code == 0
    for stream in streams:
        stream.flush()
    assert shown in "".join(stream.buffer.getvalue().decode(encoding) for stream in streams)


def test_letters_are_spelled_out_only_where_they_are_missing():
    latin = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    assert fitted("2 · σ² ≈ Δ–0 → 中\ud800", latin) == r"2 · sigma² ~ Delta-0 -> \u4e2d\ud800"
    utf8 = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert fitted("2 · σ² → 中", utf8) == "2 · σ² → 中"
    assert fitted("a\udcff", utf8) == r"a\udcff"


@pytest.fixture
def homeless(monkeypatch):
    """A container's user: no variable names the home or the user, and no entry is in passwd."""

    def missing(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr(pwd, "getpwuid", missing)
    for name in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_a_user_without_a_name_gets_one_and_others_keep_theirs(homeless, monkeypatch):
    name_user()
    assert os.environ["LOGNAME"] == f"uid{os.getuid()}"
    monkeypatch.setenv("LOGNAME", "ada")
    name_user()
    assert os.environ["LOGNAME"] == "ada"


def test_commands_run_without_a_home(homeless, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    assert main(["status", "rtu_figure8"]) == 0
    assert main(["show", "three_state_mdp", "--steps", "1"]) == 0
    capsys.readouterr()
    assert main(["verify", "--results", "~/results"]) == 1
    assert capsys.readouterr().err.startswith("error: ~/results: ")


def closed(monkeypatch, folder: Path) -> None:
    """What the system says of a folder that may not be entered, also where root is asking."""
    for method in ("iterdir", "stat", "read_text", "read_bytes", "open"):
        original = getattr(Path, method)

        def refuse(path, *arguments, original=original, **options):
            if path.is_relative_to(folder) and (path != folder or original is not Path.stat):
                raise PermissionError(13, "Permission denied", str(path))
            return original(path, *arguments, **options)

        monkeypatch.setattr(Path, method, refuse)


def test_closed_folders_are_named_in_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    paper = Path("experiments", "rtu")
    paper.mkdir(parents=True)
    shutil.copy(ROOT / paper / "figure8.yaml", paper)
    name = next(iter(load_figure(paper / "figure8.yaml", "small").runs))
    runs = tmp_path / "results" / "runs"
    runs.mkdir(parents=True)
    shutil.copy(ROOT / "results" / "runs" / f"{name}.json", runs)

    def fails(*words: str) -> str:
        assert main(words) == 1
        message = capsys.readouterr().err
        assert message.startswith("error: ") and message.count("\n") == 1
        return message

    results = ("--results", str(tmp_path / "results"))
    with monkeypatch.context() as patch:
        closed(patch, runs)
        for words in (("verify",), ("status",), ("table", "rtu_figure8a")):
            assert f"{runs}" in (told := fails(*words, *results)) and "Permission denied" in told
        assert "Permission denied" in fails("run", str(runs / f"{name}.json"))
    with monkeypatch.context() as patch:
        closed(patch, paper)
        assert "experiments/rtu: cannot be read: Permission denied" in fails("status")
    runs.rename(tmp_path / "results" / "elsewhere")
    runs.touch()
    assert f"{runs}: Not a directory" in fails("verify", *results)


def test_the_log_says_where_a_file_could_not_be_read(monkeypatch, capsys, tmp_path):
    def gone(options: object) -> int:
        raise OSError(5, "Input/output error", "/mnt/gone")

    monkeypatch.setitem(cli.COMMANDS, "docs", gone)
    assert main(["docs", "--log", str(tmp_path / "log")]) == 1
    assert capsys.readouterr().err.startswith("error: /mnt/gone: Input/output error; check that")
    assert "Traceback" in (tmp_path / "log").read_text()
