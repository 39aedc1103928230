"""A file that is no experiment stops what needs it, and nothing else."""

import shutil
from pathlib import Path

import pytest

from untruncated.basics.errors import SpecError
from untruncated.cli import main
from untruncated.experiments.expansion import load_figure, load_figures
from untruncated.experiments.finding import Runs
from untruncated.experiments.plan import make_plan

ROOT = Path(__file__).parents[2]
FOREIGN = {
    "conflict": "<<<<<<< ours\npaper: pes\n",
    "empty": "",
    "half saved": "paper: pes\ntitle: Influence bal",
    "another tool's": "repos:\n- repo: local\n  hooks: []\n",
    "a list": "- 1\n- 2\n",
    "no text": "\udcff\udcfe",
}


@pytest.fixture
def experiments(tmp_path):
    """Two small figures of one paper, and a drawing of another."""
    for name in ("pes/figure3", "pes/figure18", "rtu/figure7"):
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "experiments" / f"{name}.yaml", path)
    return tmp_path


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("name", ["figure18", "notes"])
def test_the_others_are_read(content, name, experiments):
    path = experiments / "pes" / f"{name}.yaml"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    figures = load_figures(experiments, "smoke")
    assert set(figures) == {"pes_figure3", "pes_figure18", "rtu_figure7"} - {f"pes_{name}"}
    (broken,) = figures.broken
    assert broken.name == f"pes_{name}"
    assert str(broken.error).startswith(f"{path}:") and "\n" not in str(broken.error)


def test_a_folder_of_that_name_and_one_that_cannot_be_read(experiments, monkeypatch):
    (experiments / "rtu" / "figure8.yaml").mkdir()
    (broken,) = load_figures(experiments, "smoke").broken
    assert f"{experiments / 'rtu' / 'figure8.yaml'}: cannot be read" in str(broken.error)
    listed = Path.iterdir

    def closed(folder):
        if folder.name == "rtu":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(SpecError, match=f"{experiments / 'rtu'}: cannot be read: Permission"):
        load_figures(experiments, "smoke")


def test_what_lends_to_another_is_named_in_its_error(experiments):
    (experiments / "rtu" / "figure4.yaml").write_text("paper: rtu\ntitle: T\npanels: {a: 3}\n")
    borrower = experiments / "rtu" / "figure5.yaml"
    borrower.write_text(
        "paper: rtu\ntitle: T\npanels: {a: {title: T, plot: step_sizes, "
        "curves_of: {figure: figure4, panels: [a], curves: [gru]}}}\n"
    )
    with pytest.raises(SpecError, match=r"figure4\.yaml: panels\.a: must be a mapping, not 3"):
        load_figure(borrower, "small")


def test_targets_that_a_broken_file_stands_in_the_way_of(experiments, monkeypatch):
    (experiments / "pes" / "figure18.yaml").write_text("half: a")
    plan = make_plan({"experiments": str(experiments)})
    assert set(plan.figures) == {"pes_figure3", "rtu_figure7"}
    blocked = plan.figures.blocked()
    asked = {"all", "pes", "figure18", "pes_figure18", "figure18a", "pes_figure18c"}
    assert asked <= set(blocked)
    assert not {"rtu", "figure3", "pes_figure3", "figure7", "pes_figure3a"} & set(blocked)
    with pytest.raises(SpecError, match=r"figure18\.yaml: half"):
        plan.tables("pes_figure18", "b")
    with pytest.raises(SpecError, match=r"a run ffff.*figure18\.yaml: half"):
        plan.run("ffff")
    monkeypatch.chdir(ROOT)
    with pytest.raises(SpecError, match=r"figure18\.yaml: half"):  # pages speak of it
        plan.page_sources()
    (experiments / "pes" / "figure18.yaml").rename(experiments / "pes" / "my_notes.yaml")
    assert make_plan({"experiments": str(experiments)}).page_sources()


def test_commands_do_what_does_not_need_it(experiments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    broken = experiments / "pes" / "figure18.yaml"
    broken.write_text("half: a")
    message = f"{broken}: half: unknown key"
    folder = ("--experiments", str(experiments))

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, *folder])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    code, out, err = command("status", "rtu")
    assert (code, err.count("\n")) == (0, 1) and err.startswith(f"warning: {message}")
    assert "rtu_figure7" in out
    code, out, err = command("status", "pes")
    assert code == 1 and err.startswith(f"error: {message}") and "pes_figure3" in out
    assert command("status")[0] == 1
    code, out, err = command("status", "figure18")
    assert (code, out) == (1, "") and err.startswith(f"error: {message}")

    results = tmp_path / "results"
    run = next(iter(load_figures(experiments, "small")["pes_figure3"].runs))
    (results / "runs").mkdir(parents=True)
    shutil.copy(ROOT / "results" / "runs" / f"{run}.json", results / "runs")
    code, out, err = command("verify", "--results", str(results))
    assert code == 1 and err.startswith(f"error: {message}") and "1 of 1 result files" in out

    spec, _ = Runs(experiments)[run]
    assert spec.hash == run
    code, out, err = command("run", "0" * 16)
    assert code == 1 and f"may: {message}" in err
    for words in (("table", "pes_figure18a"), ("plot", "pes_figure18", "--output", "x.png")):
        code, out, err = command(*words)
        assert code == 1 and err.startswith(f"error: {message}")
    broken.unlink()
    assert command("verify", "--results", str(results))[0] == 0
