"""A figure's face says what it shows, its files are the same each time, and errors are clear."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

from untruncated.basics.errors import SuiteError
from untruncated.experiments.expansion import load_figure
from untruncated.plots.face import face, wrapped
from untruncated.plots.figure import draw_figure
from untruncated.tables.panel_tables import COLUMNS, KINDS, read_table

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def panel_table() -> pd.DataFrame:
    """The final numbers of one GRU, and a row that is not drawn of every other run."""
    panel = load_figure(EXPERIMENTS / "rtu" / "figure2.yaml", "small").panels["a"]
    gru = panel.points[0]
    base = dict.fromkeys(COLUMNS) | {"curve": "gru", "label": "GRU", "cell": "gru", "width": 3}
    base |= {"steps": 200_000, "configuration": "gru of width 3", "fidelity": "exact"}
    base |= {"x": 5, "flops": 14_000, "parameters": 40, "metric": "msre", "diverged": False}
    tuning = [
        {
            **base,
            "stage": "tuning",
            "run": gru.tuning.hash,
            "step_size": size,
            "seed": seed,
            "value": 0.2,
        }
        for size in (0.001, 0.003)
        for seed in range(5)
    ]
    finals = [
        {
            **base,
            "stage": "final",
            "run": gru.finals[seed // 5 - 200].hash,
            "step_size": 0.001,
            "seed": seed,
        }
        | {"at_edge": seed < 1005, "value": 0.1 + seed / 1e5}
        for seed in range(1000, 1010)
    ]
    optimum = {**base, "curve": "baseline", "stage": "baseline", "label": "Bayes-optimal"}
    optimum |= {"metric": "msre_exact", "value": 0.0195, "cell": None}
    others = [{**base, "stage": "other", "metric": "none", "run": run.hash} for run in panel.runs]
    table = pd.DataFrame([*tuning, *finals, optimum, *others], columns=COLUMNS)
    return table.astype({name: "Int64" for name, kind in KINDS.items() if kind == "integer"})


@pytest.fixture
def tables(tmp_path):
    panel_table().to_csv(tmp_path / "rtu_figure2a.csv", index=False)
    return tmp_path


def test_the_face_states_scale_steps_seeds_tuning_error_bars_and_fidelity(tables):
    figure = load_figure(EXPERIMENTS / "rtu" / "figure2.yaml", "small")
    table = read_table(tables / "rtu_figure2a.csv")
    text = face(figure, [figure.panels["a"]], {"a": table})
    for part in (
        "Scale small: 200,000 steps, 10 seeds",
        "{0.001, 0.003} on 5 other seeds",
        "standard error",
        "single seeds",
        "Fidelity: exact",
        "at the edge of the grid: 1.",
    ):
        assert part in text


def test_the_same_table_gives_the_same_files(tables, tmp_path):
    outputs = [tmp_path / name for name in ("one.png", "two.png", "one.pdf", "two.pdf")]
    draw_figure("rtu_figure2a", "small", EXPERIMENTS, tables, outputs)
    one_png, two_png, one_pdf, two_pdf = (path.read_bytes() for path in outputs)
    assert one_png == two_png
    assert one_pdf == two_pdf
    assert one_png.startswith(b"\x89PNG")
    assert one_pdf.startswith(b"%PDF")


def test_the_face_names_what_each_program_counts(tables):
    table = read_table(tables / "rtu_figure2a.csv")
    for name, text in {
        "pes/figure21": "10,000, 33,330, 100,000 or 1,000,000 updates, 10 seeds",
        "bridge/figure1": "updates and 1,000,000 steps, 10 seeds",
        "bridge/companion_unrolls": "Scale small: 10 to 1,000,000 updates, 10 seeds",
        "pes/table2": "Scale small: 10,000 estimates, 10 seeds",
        "pes/figure6": "Scale small: 20,000 updates, 10 seeds",  # and a surface of 120 points
    }.items():
        figure = load_figure(EXPERIMENTS / f"{name}.yaml", "small")
        assert text in face(figure, figure.panels.values(), {"a": table})


USERS = "text.usetex: true\nsavefig.bbox: tight\nsavefig.dpi: 50\nfont.family: serif\n"
USERS += "axes.facecolor: black\nsavefig.transparent: true\nbackend: svg\nno setting at all\n"


def test_a_users_settings_change_nothing(tables, tmp_path, monkeypatch):
    outputs = [tmp_path / f"{name}.png" for name in ("plain", "set")]
    draw_figure("rtu_figure2a", "small", EXPERIMENTS, tables, outputs[:1])
    for line in USERS.splitlines()[:-2]:
        name, value = line.split(": ")
        monkeypatch.setitem(matplotlib.rcParams, name, value)
    draw_figure("rtu_figure2a", "small", EXPERIMENTS, tables, outputs[1:])
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert matplotlib.rcParams["savefig.dpi"] == 50.0


def test_a_users_files_and_variables_change_nothing(tmp_path):
    (tmp_path / "matplotlibrc").write_text(USERS)
    users = {"MPLBACKEND": "foo", "SOURCE_DATE_EPOCH": "x"}
    users["MATPLOTLIBRC"] = str(tmp_path / "matplotlibrc")
    drawn = []
    for name, more in (("plain", {}), ("set", users)):
        files = [str(tmp_path / f"{name}{suffix}") for suffix in (".png", ".pdf")]
        command = ["plot", "rtu_figure7", "--experiments", str(EXPERIMENTS), "--output", *files]
        done = subprocess.run(
            [sys.executable, "-m", "untruncated.cli", *command],
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")
        drawn.append([Path(file).read_bytes() for file in files])
    assert drawn[0] == drawn[1]


def test_a_caption_breaks_its_lines_outside_of_mathematics():
    text = r"The error falls as $\frac{1}{T} - x y z$ where T is long, and $a$ is one."
    lines = wrapped(text, 24)
    assert " ".join(lines) == text
    assert r"$\frac{1}{T} - x y z$" in lines[1]
    assert all(line.count("$") % 2 == 0 for line in lines)
    plain = "step-size sensitivity of the parameterisations " * 5
    assert wrapped(plain, 30) == textwrap.wrap(plain, 30)


def test_crosses_are_explained_where_there_are_some(tables):
    figure = load_figure(EXPERIMENTS / "pes" / "figure4.yaml", "small")
    rows = read_table(tables / "rtu_figure2a.csv")
    explained = "×: a seed diverged."
    panels = [figure.panels["a"]]
    assert explained not in face(figure, panels, {"a": rows})
    lost = rows.assign(diverged=rows["seed"] == 1003)
    assert explained in face(figure, panels, {"a": lost})
    # this plot says so always
    of_sweep = load_figure(EXPERIMENTS / "rtu" / "figure2.yaml", "small")
    assert explained not in face(of_sweep, [of_sweep.panels["a"]], {"a": lost})


def test_a_processors_name_is_no_mathematics(tables):
    figure = load_figure(EXPERIMENTS / "rtu" / "figure3.yaml", "small")
    rows = read_table(tables / "rtu_figure2a.csv").assign(machine="CPU $x_{$", repeat=1)
    assert r"Measured on CPU \$x_{\$." in face(figure, [figure.panels["a"]], {"a": rows})


def test_a_figure_in_which_all_diverged_is_drawn(tables, tmp_path, recwarn):
    lost = panel_table().assign(value=None, diverged=True)
    lost.to_csv(tables / "rtu_figure2a.csv", index=False)
    draw_figure("rtu_figure2a", "small", EXPERIMENTS, tables, [tmp_path / "lost.png"])
    assert (tmp_path / "lost.png").stat().st_size > 10_000
    assert not recwarn.list


def test_a_missing_table_and_an_unknown_figure_are_named(tables, tmp_path):
    with pytest.raises(SuiteError, match=r"rtu_figure2b\.csv: cannot be read"):
        draw_figure("rtu_figure2", "small", EXPERIMENTS, tables, [tmp_path / "x.png"])
    with pytest.raises(SuiteError, match="did you mean 'rtu_figure2'"):
        draw_figure("rtu_figur2", "small", EXPERIMENTS, tables, [tmp_path / "x.png"])
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("name", ["x.xyz", "x.svg", "x", ""])
def test_a_format_that_is_unknown_is_refused(name, tables):
    with pytest.raises(SuiteError, match=r"must end in \.pdf or \.png"):
        draw_figure("rtu_figure2a", "small", EXPERIMENTS, tables, [Path(name)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="stage"), "the column 'stage' is missing"),
        (lambda table: table.head(0), "the run [0-9a-f]{16} is missing"),
        (lambda table: table.head(20), "the run [0-9a-f]{16} is missing"),
        (lambda table: table.assign(value="many"), "'value' holds 'many', no number"),
        (lambda table: table.assign(diverged="no"), "'diverged' holds 'no', no truth"),
    ],
)
def test_a_table_that_lacks_something_is_named_with_the_way_out(change, message, tables, tmp_path):
    path = tables / "rtu_figure2a.csv"
    change(panel_table()).to_csv(path, index=False)
    with pytest.raises(SuiteError, match=message) as caught:
        draw_figure("rtu_figure2a", "small", EXPERIMENTS, tables, [tmp_path / "x.png"])
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith(f"untruncated table rtu_figure2a --output {path}")
    assert not (tmp_path / "x.png").exists()
