"""What the command line says of itself: examples that work, scales, and its version."""

import re
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest

from untruncated.cli import COMMANDS, main
from untruncated.commands.arguments import EXAMPLES, parser
from untruncated.experiments.figures import SCALES
from untruncated.experiments.finding import Runs, find_run

ROOT = Path(__file__).parents[2]
LINES = [line for lines in EXAMPLES.values() for line in lines]


def said(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_every_command_has_an_example_in_the_help_and_in_its_own(capsys):
    assert EXAMPLES.keys() == COMMANDS.keys()
    whole = said(capsys, "--help")
    for name, lines in EXAMPLES.items():
        own = said(capsys, name, "--help")
        assert all(f"\n  {line}\n" in f"{whole}\n" and f"\n  {line}\n" in own for line in lines)


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_understood_and_what_it_names_is_there(line, monkeypatch):
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(line)
    options = parser().parse_args(arguments)
    assert program == "untruncated" and arguments[0] == options.name
    if options.name == "run":
        spec, folder = find_run(options.spec, Runs(Path("experiments")))
        assert (folder / f"{spec.hash}.json").exists()


def test_examples_that_take_no_time_work(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    experiments = ["--experiments", str(ROOT / "experiments")]
    results = ["--results", str(ROOT / "results")]
    (plot,), (table,), (status, _) = (EXAMPLES[name] for name in ("plot", "table", "status"))
    assert main([*shlex.split(plot)[1:], *experiments]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"figure7.png", "figure7.pdf"}
    output = ["--output", str(tmp_path / "table.csv")]
    assert main([*shlex.split(table)[1:], *experiments, *results, *output]) == 0
    assert main([*shlex.split(status)[1:], *experiments, *results]) == 0
    capsys.readouterr()


def test_the_help_says_what_the_scales_are(capsys):
    words = " ".join(said(capsys, "status", "--help").split())
    assert all(re.search(rf"\b{scale} \(", words) for scale in SCALES)


def test_the_version_is_the_packages_jaxs_and_the_commit(capsys):
    text = said(capsys, "--version")
    packages = f"untruncated {version('untruncated')}, jax {version('jax')}"
    assert re.fullmatch(rf"{re.escape(packages)}(, commit [0-9a-f]{{12}}( with changes)?)?\n", text)
    assert ("commit" in text) == (ROOT / ".git").exists()
