"""What `untruncated show` says and when: what cannot be written is known at once."""

import io
import sys
from types import SimpleNamespace

import pytest

from untruncated.catalogue import ENVIRONMENTS
from untruncated.catalogue.brax import BRAX
from untruncated.cli import main
from untruncated.commands import showing


def test_a_page_that_cannot_be_written_is_told_before_anything_is_computed(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(showing, "start_jax", lambda: pytest.fail("has started"))
    (tmp_path / "file").touch()
    for output, words in (
        (tmp_path / "file" / "ant.html", "could not write"),
        (tmp_path, "is a folder; name a file"),
        (tmp_path / ("x" * 250), "could not write"),
    ):
        assert main(["show", "reacher", "--output", str(output)]) == 1
        out, err = capsys.readouterr()
        assert not out and err.startswith("error: ") and words in err and err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_tables_and_figures_that_cannot_be_written_are_told_first(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    for words in (("table", "rtu_figure8a"), ("plot", "rtu_figure8")):
        output = str(tmp_path / "file" / "x.png")
        assert main([*words, "--output", output, "--experiments", str(tmp_path)]) == 1
        assert f"could not write {output}" in capsys.readouterr().err


def test_help_names_what_can_be_shown(capsys):
    with pytest.raises(SystemExit):
        main(["show", "--help"])
    words = capsys.readouterr().out.replace(",", " ").split()
    assert {*ENVIRONMENTS, *BRAX} <= set(words)


def test_a_stream_is_shown(capsys):
    assert main(["show", "three_state_mdp", "--seed", "7", "--steps", "3"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.splitlines()[-2].startswith("step 2 ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False, None])
def test_rendering_a_robot_says_that_it_goes_on(terminal, tmp_path, monkeypatch):
    from untruncated.rendering import brax_page, transcript

    robot = SimpleNamespace(robot="ant", legend=lambda: ["legend"])
    monkeypatch.setattr(brax_page, "page", lambda robot, states, lines: "\n".join(lines))
    monkeypatch.setattr(transcript, "introduction", lambda robot: ["rules"])
    monkeypatch.setattr(transcript, "described", lambda robot, moments: [str(len(moments))])
    stderr = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", None if terminal is None else stderr)
    moments = [SimpleNamespace(state=t) for t in range(6)]
    lines = list(showing._write_page(robot, moments, 9, tmp_path / "page.html"))
    assert lines[:3] == ["rules", "legend", "6"]
    said = stderr.getvalue()
    if terminal:
        assert said.startswith("\r") and said.endswith("\r\033[K") and "\n" not in said
    elif terminal is False:
        assert said.count("\n") == 1 and said.startswith("compiling the physics of ant")
