"""What an error message advises: the command must be one that Snakemake can follow."""

from pathlib import Path

import pytest

from untruncated.suite.commands import rebuild_run, rebuild_table


@pytest.mark.parametrize(
    ("path", "config"),
    [
        ("results/runs/x.json", ""),
        ("results/smoke/runs/x.json", " --config scale=smoke"),
        ("smoke/runs/x.json", " --config results=smoke"),
        ("/elsewhere/runs/x.json", " --config results=/elsewhere"),
    ],
)
def test_a_run_is_computed_again_in_its_folder(path, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in (Path(path), tmp_path / path):
        assert rebuild_run(given) == f"snakemake -f {path}{config}"


@pytest.mark.parametrize(
    ("path", "scale", "config"),
    [
        ("results/tables/small/x.csv", "small", ""),
        ("results/tables/paper/x.csv", "paper", " --config scale=paper"),
        ("results/smoke/tables/smoke/x.csv", "smoke", " --config scale=smoke"),
        ("mine/tables/paper/x.csv", "paper", " --config scale=paper results=mine"),
    ],
)
def test_a_table_is_made_again_in_its_folder(path, scale, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in (Path(path), tmp_path / path):
        assert rebuild_table(given, scale) == f"snakemake -f {path}{config}"


def test_a_folder_with_a_space_is_quoted():
    expected = "snakemake -f '/a b/runs/x.json' --config 'results=/a b'"
    assert rebuild_run(Path("/a b/runs/x.json")) == expected
