"""What an error message advises: the shell, Snakemake and our own command line must follow it.

`tests/test_printed_commands.py` executes them.
"""

import shlex
from pathlib import Path

import pytest
from snakemake.cli import parse_config

from untruncated.basics.command_lines import (
    collect_table,
    compute_panel,
    compute_run,
    config_text,
)
from untruncated.experiments.plan import config_folder

NAMES = """
    2024_07 1e3 07 nan Inf true False None null ~x -x -1 .5 .hidden _private a,b a=b %x @y &z *z
    !z [z] a#b #a 3/runs/4 it results/smoke/ ../above /absolute/1_000 ٤ ü ./. a\\b
""".split()
SPACED = [
    "a b",
    "/a b/c d",
    "1 2",
    "- x",
    "a #b",
    "k: v",
    "k:",
    "/k: v",
    " a",
    "/a ",
    "/a\tb",
    "{a}",
]
QUOTED = ["it's", '"', '/a"', "'a'"]


@pytest.mark.parametrize("name", [*NAMES, *SPACED, *QUOTED])
def test_a_folder_comes_through_snakemakes_config_or_is_refused(name):
    path = Path(name)
    try:
        words = [f"results={config_text(path)}"]
    except ValueError:
        assert name.startswith(("-", "~", "- ")) or name not in NAMES
        return
    (read,) = parse_config(shlex.split(shlex.join(words))).values()
    assert isinstance(read, str)
    assert config_folder("results", read, words[0].removeprefix("results=")) == str(path)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("results=2027_01", "reads '2027_01' as 202701; write results=./2027_01"),
        ("figures=3e2", "reads '3e2' as 300.0; write figures=./3e2"),
        ("results=True", "reads 'True' as True; write results=./True"),
        ("experiments=[mine]", "reads '[mine]' as ['mine']; write experiments=./[mine]"),
        ("figures=a: b", "reads 'a: b' as {'a': 'b'}; rename the folder"),
        ("results=runs #2", "reads 'runs #2' as 'runs'; rename the folder"),
        ("results='x'", "as 'x'; rename the folder"),
        ("results=", "is empty"),
        ("figures=", "is empty"),
        ("experiments=", "is empty"),
        ("figures=x{scale}", "must not have braces"),
        ("results=-r", "nor begin with - or ~"),
        ("results=./~", "nor begin with - or ~"),
    ],
)
def test_what_is_no_folder_for_snakemake_is_refused_in_one_line(word, message):
    key = word.split("=")[0]
    with pytest.raises(Exception) as caught:
        config_folder(key, parse_config([word])[key], word.removeprefix(f"{key}="))
    assert type(caught.value).__name__ == "SpecError"
    assert str(caught.value).startswith(f"--config {key}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_value_of_a_config_file_that_is_no_text_is_refused():
    with pytest.raises(
        Exception, match=r"--config results: Snakemake reads '7' as 7; write .*\./7"
    ):
        config_folder("results", 7, None)


def test_slashes_and_the_home_are_written_as_snakemake_writes_files(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    written = [config_folder("results", given, given) for given in ("~/mine//x/", "./pictures/")]
    assert written == ["/home/someone/mine/x", "pictures"]


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("results/runs/x.json", "results/runs/x.json"),
        ("/elsewhere/runs/x.json", "/elsewhere/runs/x.json"),
        ("/a b/runs/x.json", "'/a b/runs/x.json'"),
        ("-odd/x.json", "./-odd/x.json"),
    ],
)
def test_a_run_is_computed_again_by_its_file(path, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in (Path(path), tmp_path / path):
        assert compute_run(given) == f"untruncated run {named}"
    other = compute_run(Path(path), Path("my experiments"))
    assert other == f"untruncated run {named} --experiments 'my experiments'"


@pytest.mark.parametrize(
    ("path", "scale", "options"),
    [
        ("results/tables/small/x.csv", "small", ""),
        ("results/tables/paper/x.csv", "paper", " --scale paper"),
        ("results/smoke/tables/smoke/x.csv", "smoke", " --scale smoke"),
        ("mine/tables/paper/x.csv", "paper", " --scale paper --results mine"),
        ("mine/x.csv", "small", " --output mine/x.csv"),
        (
            "results/tables/small/x.csv",
            "paper",
            " --scale paper --output results/tables/small/x.csv",
        ),
    ],
)
def test_a_table_is_made_again_in_its_place(path, scale, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in (Path(path), tmp_path / path):
        assert collect_table(given, scale) == f"untruncated table x{options}"


@pytest.mark.parametrize(
    ("results", "scale", "config"),
    [
        ("results", "small", ""),
        ("results/smoke", "smoke", " --config scale=smoke"),
        ("2027", "small", " --config results=./2027"),
        ("/a b", "paper", " --config scale=paper 'results=/a b'"),
    ],
)
def test_a_panel_is_computed_in_its_folder(results, scale, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in (Path(results), tmp_path / results):
        assert compute_panel("x", scale, given) == f"snakemake x{config}"
