"""`make` works wherever the project lies."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("target", ["figures", "results"])
def test_a_folder_of_a_targets_name_is_not_up_to_date(target, tmp_path):
    (tmp_path / ".venv").mkdir()
    for part in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / part, tmp_path)
    (tmp_path / ".venv/ready").touch()
    (tmp_path / target).mkdir()
    done = subprocess.run(
        ["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    command = f".venv/bin/python -m snakemake {target} --cores all --config scale=small\n"
    assert (done.stdout, done.stderr) == (command, "")


@pytest.mark.parametrize("name", ["two words", "it's", "[a]", "$HOME", 'a "b"', "$(HOME) x"])
def test_make_calls_the_environments_python_wherever_it_lies(name, tmp_path):
    folder = tmp_path / name
    (folder / ".venv/bin").mkdir(parents=True)
    for part in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / part, folder)
    python = folder / ".venv/bin/python"
    python.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; print(sys.argv[1:])" "$@"\n'
    )
    python.chmod(0o755)
    (folder / ".venv/ready").touch()
    done = subprocess.run(
        ["make", "-s", "pes_figure4", "CORES=3"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = ["-m", "snakemake", "pes_figure4", "--cores", "3", "--config", "scale=small"]
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{expected}\n", "")


@pytest.mark.parametrize("home", [None, "", "/proc/1"])
def test_whoever_has_no_home_gets_one_in_the_project(home):
    environment = {key: value for key, value in os.environ.items() if key != "HOME"}
    environment |= {} if home is None else {"HOME": home}
    command = ["make", "-n", "-p", "help"]
    told = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert f"\nHOME := {ROOT}/.snakemake/home\n" in told.stdout
