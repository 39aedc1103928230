"""Tables and status: from result files written by hand to rows, with what is missing named."""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from untruncated.basics.errors import ResultError, SpecError
from untruncated.commands.status import print_status
from untruncated.commands.verifying import verify_results
from untruncated.experiments.expansion import load_figure
from untruncated.results.result_files import Metric, Result, write_result
from untruncated.tables.panel_tables import COLUMNS, KINDS, read_table, write_table

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "experiments"


def write_run(runs: Path, run, value: float, diverged: list | None = None, **choices) -> None:
    """A result whose MSRE is `value` + seed / 10^6, NaN where `diverged` names the member."""
    seeds = run.fields["seeds"]
    if run.fields["program"] == "optimal_prediction":
        axes, shape = {"seed": seeds}, (len(seeds),)
    else:
        sizes = run.fields.get("step_sizes") or [choices["step_size"]]
        axes, shape = {"step_size": sizes, "seed": seeds}, (len(sizes), len(seeds))
    values = np.broadcast_to(value + np.asarray(seeds) / 1e6, shape).copy()
    for record in diverged or []:
        i = axes["step_size"].index(record["step_size"])
        values[i, seeds.index(record["seed"])] = np.nan
    metrics = {"msre": Metric(tuple(axes), values)}
    if len(axes) == 1:
        metrics["msre_exact"] = Metric((), np.asarray(value))
    result = Result(run.canonical, axes, metrics, choices, diverged or [], {}, {})
    write_result(runs / f"{run.hash}.json", result)


@pytest.fixture
def project(tmp_path):
    """Every run of Figure 2a at scale smoke, with known numbers; one tuning seed diverged."""
    figure = load_figure(EXPERIMENTS / "rtu" / "figure2.yaml", "smoke")
    panel, runs = figure.panels["a"], tmp_path / "runs"
    for index, point in enumerate(panel.points):
        lost = [{"step_size": 0.003, "seed": 2, "step": 7, "reason": "x"}] if index == 0 else []
        write_run(runs, point.tuning, 0.2, lost)
        for run in point.finals:
            write_run(runs, run, 0.1 + index / 100, step_size=0.001, at_edge=index == 1)
    for run in panel.baselines:
        write_run(runs, run, 0.02)
    return tmp_path, panel


def table(folder: Path) -> pd.DataFrame:
    output = folder / "tables" / "smoke" / "rtu_figure2a.csv"
    write_table("rtu_figure2a", "smoke", EXPERIMENTS, folder / "runs", output)
    return read_table(output)


def test_one_row_per_configuration_stage_step_size_seed_and_metric(project):
    folder, panel = project
    rows = table(folder)
    assert list(rows.columns) == COLUMNS
    configurations = len(panel.points)
    assert (rows["stage"] == "tuning").sum() == configurations * 2 * 5
    assert (rows["stage"] == "final").sum() == configurations * 5
    assert (rows["stage"] == "baseline").sum() == 5 + 1
    key = ["curve", "width", "truncation", "stage", "step_size", "seed", "metric"]
    assert not rows.duplicated(key).any()


def test_values_stand_with_their_configuration(project):
    folder, panel = project
    rows = table(folder)
    for index, point in enumerate(panel.points):
        mine = rows[(rows["stage"] == "final") & (rows["run"] == point.finals[0].hash)]
        np.testing.assert_allclose(mine["value"], 0.1 + index / 100 + mine["seed"] / 1e6)
        assert set(mine["width"]) == {point.fields["cell"]["width"]}
        assert set(mine["flops"]) == {point.costs["flops"]}
        assert mine["x"].isna().all() == (point.fields["credit"]["name"] == "rtrl")
    exact = rows[rows["metric"] == "msre_exact"]
    assert exact["value"].tolist() == [0.02]
    assert exact["seed"].isna().all()


def test_a_diverged_member_has_no_value_and_is_marked(project):
    folder, panel = project
    rows = table(folder)
    lost = rows[rows["diverged"]]
    assert lost[["run", "step_size", "seed"]].values.tolist() == [
        [panel.points[0].tuning.hash, 0.003, 2]
    ]
    assert lost["value"].isna().all()
    assert rows.loc[~rows["diverged"], "value"].notna().all()


def test_a_panel_has_the_metrics_along_the_run_that_its_plot_names(tmp_path):
    figure = load_figure(EXPERIMENTS / "rtu" / "companion_eigenvalues.yaml", "smoke")
    for run in figure.runs.values():
        axes = {"step_size": run.fields["step_sizes"], "seed": run.fields["seeds"]}
        axes["curve_step"] = [500, 1000]
        values = np.zeros([len(values) for values in axes.values()])
        names = ("complex_eigenvalues_curve", "accuracy_curve", "another_curve")
        metrics = {name: Metric(tuple(axes), values) for name in names}
        write_result(
            tmp_path / f"{run.hash}.json", Result(run.canonical, axes, metrics, {}, [], {}, {})
        )
    output = tmp_path / "panel.csv"
    write_table("rtu_companion_eigenvaluesb", "smoke", EXPERIMENTS, tmp_path, output)
    counts = read_table(output)["metric"].value_counts()
    members = sum(
        len(r.fields["step_sizes"]) * len(r.fields["seeds"]) for r in figure.runs.values()
    )
    assert counts.to_dict() == {name: 2 * members for name in names[:2]}


def test_every_missing_run_is_named_with_its_configuration(project):
    folder, panel = project
    point = panel.points[0]
    for run in (point.tuning, *point.finals):
        (folder / "runs" / f"{run.hash}.json").unlink()
    with pytest.raises(ResultError) as caught:
        table(folder)
    message = str(caught.value)
    assert f"{point.tuning.hash}.json  gru of width 22, truncated_bptt 1, tuning" in message
    assert f"{point.finals[0].hash}.json  gru of width 22" in message
    assert "2 of its 9 runs are missing" in message
    assert "snakemake rtu_figure2a --config scale=smoke" in message


def test_another_runs_file_is_refused(project):
    folder, panel = project
    one, other = (folder / "runs" / f"{panel.points[i].tuning.hash}.json" for i in (0, 1))
    other.write_text(one.read_text())
    with pytest.raises(ResultError, match=str(other)):
        table(folder)


def test_status_counts_done_and_missing_and_tells_divergence_and_edges(project, capsys):
    folder, panel = project
    assert print_status("figure2a", "smoke", EXPERIMENTS, folder) == 0
    out = capsys.readouterr().out.splitlines()
    assert "2 done; tuning: diverged at step size 0.003" in out[1]
    assert "step size 0.001 is at the edge of its grid" in out[2]
    (folder / "runs" / f"{panel.points[2].tuning.hash}.json").unlink()
    (folder / "runs" / f"{panel.points[3].tuning.hash}.json").write_text("{")
    assert print_status("figure2a", "smoke", EXPERIMENTS, folder) == 1
    out = capsys.readouterr().out.splitlines()
    assert "1 done, 1 missing" in out[3]
    assert "1 damaged, 1 done" in out[4]
    with pytest.raises(SpecError, match="did you mean"):
        print_status("figure2aa", "smoke", EXPERIMENTS, folder)


def test_status_asks_for_more_tuning_seeds_only_where_a_step_size_is_chosen(project, capsys):
    folder, _ = project
    print_status("figure2a", "smoke", EXPERIMENTS, folder)
    lines = capsys.readouterr().out.splitlines()
    # all its step sizes have one error
    assert "list it under ten_tuning_seeds: {panel: a, curve: lru, truncation: 1}" in lines[2]
    figure = load_figure(EXPERIMENTS / "rtu" / "companion_eigenvalues.yaml", "smoke")
    for run in figure.runs.values():
        axes = {"step_size": run.fields["step_sizes"], "seed": run.fields["seeds"]}
        metrics = {"cross_entropy": Metric(tuple(axes), np.ones([len(v) for v in axes.values()]))}
        lost = [{"step_size": 0.01, "seed": 1000, "step": 7, "reason": "x"}]
        result = Result(run.canonical, axes, metrics, {}, lost, {}, {})
        write_result(folder / "runs" / f"{run.hash}.json", result)
    assert print_status("companion_eigenvalues", "smoke", EXPERIMENTS, folder) == 0
    out = capsys.readouterr().out
    assert "1 done; final: diverged at step size 0.01" in out
    assert "ten_tuning_seeds" not in out


def test_verify_tells_each_defect(project, capsys):
    folder, panel = project
    assert verify_results(folder / "runs") == 0
    path = folder / "runs" / f"{panel.points[0].tuning.hash}.json"
    path.write_text(path.read_text().replace("0.2", "0.1", 1))
    assert verify_results(folder / "runs") == 1
    captured = capsys.readouterr()
    assert captured.err.count("error: ") == 1
    assert str(path) in captured.err


def test_every_column_has_the_type_of_its_kind(project):
    rows = table(project[0])
    types = {"integer": "Int64", "number": "float64", "truth": "boolean"}
    for name, kind in KINDS.items():
        if kind == "text":
            assert all(type(value) is str for value in rows[name])
        else:
            assert str(rows[name].dtype) == types[kind]
    (width,) = rows.loc[rows["curve"] == "gru", "width"].unique()
    assert str(width) == "22"


# What a reader that guesses takes for a number, a truth or nothing, or for a part of the file.
TEXTS = ["None", "NA", "nan", "null", "-inf", "1.0", "True", "1e-3", "007", "#x", "", " ", "a,b"]
HASHES = "1234567890123456 12e4567890123456 0000000000000012 1e10000000000000".split()


@pytest.mark.parametrize("text", [*TEXTS, *HASHES])
def test_a_text_stays_as_it_is_whatever_it_looks_like(text, tmp_path):
    texts = [name for name, kind in KINDS.items() if kind == "text"]
    with (tmp_path / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([dict.fromkeys(texts, text), dict.fromkeys(texts, "other")])
    rows = read_table(tmp_path / "table.csv")
    for name in texts:
        assert rows[name].tolist() == [text, "other"]
    assert rows.drop(columns=texts).isna().all(axis=None)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("value", "many", "'value' holds 'many', no number"),
        ("seed", "1.5", "'seed' holds '1.5', no integer"),
        ("diverged", "no", "'diverged' holds 'no', no truth"),
    ],
)
def test_what_is_not_of_its_columns_kind_is_named(name, value, message, tmp_path):
    pd.DataFrame([{name: value}], columns=COLUMNS).to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_table(tmp_path / "table.csv")


def test_nothing_reads_a_table_or_groups_its_rows_in_another_way():
    """Else a curve named None is lost in one place or the other."""
    sources = [
        path
        for folder in ("src", "tests", "benchmarks", "docs", "examples")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".md") and path != Path(__file__)
    ]
    readers = [str(path.relative_to(ROOT)) for path in sources if "read_csv(" in path.read_text()]
    assert readers == ["src/untruncated/tables/panel_tables.py"]
    for path in sources:
        calls = re.findall(r"\.groupby\((?:[^()]|\([^()]*\))*\)", path.read_text())
        assert all("dropna=False" in call for call in calls), path


def test_a_final_result_made_from_another_tuning_result_is_told(project, capsys):
    folder, panel = project
    point = panel.points[1]
    assert print_status("figure2a", "smoke", EXPERIMENTS, folder) == 0
    tuning, final = (folder / f"runs/{run.hash}.json" for run in (point.tuning, point.finals[0]))
    write_run(folder / "runs", point.tuning, 0.2, [{"step_size": 0.001, "seed": 3, "step": 1}])
    assert tuning.exists()  # with 0.001 lost, 0.003 is best: finals were made with 0.001
    capsys.readouterr()
    assert verify_results(folder / "runs", EXPERIMENTS) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error: {final}: made with step size 0.001, where its tuning result now")
    assert "gives 0.003. Compute it again with: untruncated run " in err
    assert err.count("\n") == 1
    assert print_status("figure2a", "smoke", EXPERIMENTS, folder) == 1
    out = capsys.readouterr().out
    assert "1 contradicting, 1 done; " in out
    assert "; made with step size 0.001, where its tuning result now gives 0.003. Compute" in out
    write_run(folder / "runs", point.finals[0], 0.1, step_size=0.003)
    assert verify_results(folder / "runs", EXPERIMENTS) == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: text.rindex("\n", 0, -1) + 1],  # the last row
        lambda text: text.replace(",tuning,", ",final,", 1),
        lambda text: text + text.splitlines(keepends=True)[-1],
        lambda text: text.replace("\n", "\r\n"),
    ],
)
def test_a_table_that_is_not_as_it_was_written_is_not_read(project, damage):
    folder, _ = project
    table(folder)
    path = folder / "tables" / "smoke" / "rtu_figure2a.csv"
    whole = path.read_bytes().decode()
    path.write_bytes(damage(whole).encode())
    with pytest.raises(ValueError, match="not as it was written"):
        read_table(path)
    table(folder)  # made again
    assert path.read_bytes().decode() == whole
    path.with_name(f"{path.name}.sha256").unlink()  # of somebody else's making
    read_table(path)


def test_the_page_on_results_names_every_column():
    page = (ROOT / "docs/results.md").read_text()
    missing = [column for column in COLUMNS if f"`{column}`" not in page]
    assert not missing
