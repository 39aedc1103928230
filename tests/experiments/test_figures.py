"""Experiment files: what they expand to, and one clear message for each way to break one."""

import copy
import math
import shutil
from pathlib import Path

import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.catalogue import PROGRAMS
from untruncated.cli import main
from untruncated.experiments.expansion import load_figure, load_figures
from untruncated.experiments.figures import SCALES
from untruncated.experiments.plan import make_plan, targets

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

MINIMAL = {
    "paper": "rtu",
    "title": "A title",
    "shared": {
        "program": "online_prediction",
        "environment": {"name": "trace_conditioning"},
        "learner": {"name": "td"},
    },
    "seeds": {"tuning": 0, "final": 1000},
    "scales": {
        scale: {
            "steps": 1000,
            "step_sizes": [1e-3, 1e-2],
            "final_blocks": 2,
            "lists": {"truncations": [1, 5]},
        }
        for scale in SCALES
    },
    "panels": {
        "a": {
            "title": "A panel",
            "plot": {"name": "sweep_lines", "x": "truncation", "x_label": "T"},
            "baseline": {"label": "optimal", "program": "optimal_prediction"},
            "curves": {
                "gru": {
                    "cell": {"name": "gru", "width": {"flops": 15_000}},
                    "credit": {"name": "truncated_bptt", "truncation": "$truncation"},
                    "sweep": {"truncation": "truncations"},
                },
                "linear_rtu": {
                    "cell": {"name": "linear_rtu", "width": {"flops": 15_000}},
                    "credit": "rtrl",
                },
            },
        }
    },
}


def write(folder: Path, tree: object, name: str = "figure9") -> Path:
    path = folder / "rtu" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tree if isinstance(tree, str) else yaml.safe_dump(tree))
    return path


def edited(path: str, value: object = None, *, delete: bool = False) -> dict:
    """The minimal figure with the field at a dotted path set, or deleted."""
    tree = copy.deepcopy(MINIMAL)
    *parents, last = path.split(".")
    place = tree
    for key in parents:
        place = place[key]
    if delete:
        del place[last]
    else:
        place[last] = value
    return tree


GRU = "panels.a.curves.gru"


def _other_x() -> dict:
    """A panel whose x is swept by one curve, while the other sweeps over something else."""
    panels = copy.deepcopy(MINIMAL["panels"])
    panels["a"]["plot"]["x"] = "width"
    curves = panels["a"]["curves"]
    curves["linear_rtu"]["cell"]["width"] = "$width"
    curves["linear_rtu"]["sweep"] = {"width": "truncations"}
    return panels


BROKEN = {
    "no mapping": ("just a text", ["the file", "must be a mapping"]),
    "YAML syntax": ("paper: [rtu\ntitle: x", ["line 2", "not valid YAML"]),
    "unknown key": (edited("colour", "red"), ["colour", "unknown key", "panels"]),
    "missing title": (edited("title", delete=True), ["title", "is missing"]),
    "title no text": (edited("title", 3), ["title", "must be a text, not 3"]),
    "missing scale": (edited("scales.paper", delete=True), ["scales.paper", "is missing"]),
    "unknown scale": (edited("scales.tiny", {}), ["scales.tiny", "smoke, small, medium, paper"]),
    "steps no number": (edited("scales.small.steps", "many"), ["scales.small.steps", "whole"]),
    "steps zero": (edited("scales.small.steps", 0), ["scales.small.steps", "at least 1"]),
    "no step sizes": (edited("scales.small.step_sizes", []), ["scales.small.step_sizes", "list"]),
    "step size text": (
        edited("scales.smoke.step_sizes", ["fast"]),
        ["scales.smoke.step_sizes[0]", "must be a number, not 'fast'"],
    ),
    "step size twice": (
        edited("scales.smoke.step_sizes", [1e-3, "1e-3"]),
        ["scales.smoke.step_sizes", "twice"],
    ),
    "blocks fraction": (
        edited("scales.small.final_blocks", 1.5),
        ["scales.small.final_blocks", "whole number"],
    ),
    "unknown program": (
        edited("shared.program", "online_predictoin"),
        ["program", "did you mean 'online_prediction'"],
    ),
    "unknown environment": (
        edited("shared.environment.name", "trace"),
        ["shared.environment.name", "trace_conditioning"],
    ),
    "environment field": (
        edited("shared.environment.intervall", 20),
        ["shared.environment.intervall", "did you mean 'interval'"],
    ),
    "interval too short": (edited("shared.environment.interval", 3), ["interval", "at least 7"]),
    "discount one": (edited("shared.learner.discount", 1), ["learner.discount", "below 1"]),
    "unknown cell": (
        edited(f"{GRU}.cell.name", "gruu"),
        [f"{GRU}.cell.name", "did you mean 'gru'", "linear_rtu"],
    ),
    "unknown credit": (edited(f"{GRU}.credit.name", "bppt"), [f"{GRU}.credit.name", "rtrl"]),
    "cell cannot do RTRL": (
        edited(f"{GRU}.credit", "rtrl"),
        [f"{GRU}.credit: cell 'gru' cannot be trained with 'rtrl'", "truncated_bptt"],
    ),
    "no width meets the budget": (
        edited(f"{GRU}.cell.width", {"flops": 100}),
        [f"{GRU}.cell.width", "no width", "100 FLOPs", "one unit needs"],
    ),
    "malformed budget": (
        edited(f"{GRU}.cell.width", {"flopz": 100}),
        [f"{GRU}.cell.width", "flops, parameters"],
    ),
    "negative width": (edited(f"{GRU}.cell.width", -4), [f"{GRU}.cell.width", "at least 1"]),
    "unknown sweep variable": (
        edited(f"{GRU}.credit.truncation", "$T"),
        [f"{GRU}.credit.truncation", "no sweep variable $T", "truncation"],
    ),
    "unknown list": (
        edited(f"{GRU}.sweep.truncation", "lengths"),
        [f"{GRU}.sweep.truncation", "truncations"],
    ),
    "list in place": (
        edited(f"{GRU}.sweep.truncation", [1, 5]),
        [f"{GRU}.sweep.truncation", "truncations"],
    ),
    "sweep beside the x axis": (
        edited("panels", _other_x()),
        ["panels.a.curves.gru.sweep", "must sweep over the panel's x"],
    ),
    "huge number": (edited("scales.small.steps", 10**400), ["scales.small.steps", "whole number"]),
    "odd number of steps": (edited("scales.small.steps", 1001), ["multiple of 10"]),
    "module without a name": (edited(f"{GRU}.cell.name", ":Foo"), ["cannot be imported"]),
    "paper of another folder": (edited("paper", "pes"), ["paper", "must be the folder's name"]),
    "seeds that overlap": (edited("seeds.final", 3), ["seeds.final", "overlap"]),
    "baseline of another return": (
        edited("panels.a.baseline.discount", 0.9),
        ["panels.a.baseline.discount", "must be the learner's, 0.966"],
    ),
    "key twice": ("paper: rtu\npaper: rtu\n", ["'paper' stands twice", "line 1"]),
    "delay too short": (
        edited("shared.learner", {"name": "delayed_return", "discount": 0.99}),
        ["learner.delay", "0.1 %"],
    ),
    "no curves": (edited("panels.a.curves", {}), ["panels.a.curves", "no curve"]),
    "long panel name": (edited("panels.first", {}), ["panels.first", "one letter"]),
    "unknown plot": (edited("panels.a.plot.name", "pie"), ["panels.a.plot.name", "sweep_lines"]),
    "x is nothing": (edited("panels.a.plot.x", "depth"), ["panels.a.plot.x", "truncation"]),
    "x scale": (edited("panels.a.plot.x_scale", "cubic"), ["plot.x_scale", "linear, log"]),
    "baseline program": (
        edited("panels.a.baseline.program", "oracle"),
        ["panels.a.baseline.program", "optimal_prediction"],
    ),
    "plot without runs": (
        edited("panels.a.plot", "three_state_mdp"),
        ["panels.a.curves", "a drawing has no runs"],
    ),
    "panel of a scale": (
        edited("scales.smoke.panels", ["b"]),
        ["scales.smoke.panels", "unknown panel 'b'", "Allowed: a"],
    ),
    "curve's learner": (
        edited(f"{GRU}.learner", {"name": "td", "discount": 2}),
        [f"{GRU}.learner.discount", "below 1"],
    ),
    "curve's own grid": (
        edited(f"{GRU}.step_sizes", [1e-3]),
        [f"{GRU}.step_sizes", "tuned on the scale's grid"],
    ),
    "no program": (edited("shared.program", delete=True), ["program", "is missing"]),
    "no seeds": (edited("seeds", delete=True), ["seeds", "is missing"]),
    "parameterisation": (
        edited("panels.a.curves.linear_rtu.cell.parameterisation", "exp_log"),
        ["linear_rtu.cell.parameterisation", "exp_exp_nu", "direct"],
    ),
    "scale's steps left out": (
        edited("scales.smoke.steps", delete=True),
        ["scales.smoke.steps", "is missing"],
    ),
    "iterations without a budget": (
        edited("scales.small.least_iterations", 100),
        ["scales.small.least_iterations", "goes with particle_steps"],
    ),
    "claims": (edited("claims", [{"id": "x"}]), ["claims[0].text", "is missing"]),
    "precision": (edited("shared.precision", "float16"), ["precision", "float32, float64"]),
    "no date": ("paper: rtu\ntitle: 2024-13-01", ["line 2", "'2024-13-01' is no timestamp"]),
    "no number": ("paper: rtu\ntitle: !!int abc", ["line 2", "'abc' is no int"]),
    "no truth": ("title: !!bool perhaps", ["line 1", "'perhaps' is no bool"]),
    "no mapping in a list": ("title: !!map [1]", ["line 1", "expected a mapping node"]),
    "digits without end": (f"title: {'9' * 5000}", ["line 1", "is no int"]),
    "nested without end": ("title: " + "[" * 100_000, ["line 1", "nesting"]),
    "program no name": (edited("shared.program", math.nan), ["shared.program"]),
    "seeds without end": (
        edited("scales.small.final_blocks", 10**30),
        ["scales.small.final_blocks", "at most 1000"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gives_one_message_with_file_and_field(name, tmp_path):
    tree, parts = BROKEN[name]
    path = write(tmp_path, tree)
    with pytest.raises(SpecError) as caught:
        for scale in SCALES:
            load_figure(path, scale)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize("name", BROKEN)
def test_the_command_line_says_the_same_and_fails(name, tmp_path, capsys):
    path = write(tmp_path, BROKEN[name][0])
    codes = [main(["status", "--experiments", str(tmp_path), "--scale", s]) for s in SCALES]
    assert 1 in codes
    assert f"error: {path}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"scale": "papr"}, "did you mean 'paper'"),
        ({"sclae": "paper"}, "did you mean 'scale'"),
        ({"compute": "maybe"}, "must be true or false"),
        ({"experiments": "/nowhere"}, "no experiment files"),
    ],
)
def test_a_broken_config_gives_one_message(config, message):
    with pytest.raises(SpecError, match=message):
        make_plan({"experiments": str(EXPERIMENTS), **config})


def test_the_minimal_figure_is_sound(tmp_path):
    write(tmp_path, MINIMAL)
    figure = load_figures(tmp_path, "small")["rtu_figure9"]
    panel = figure.panels["a"]
    assert [point.fields["cell"]["width"] for point in panel.points] == [22, 7, 53]
    assert [point.sweep for point in panel.points] == [{"truncation": 1}, {"truncation": 5}, {}]
    # three configurations of one tuning and two final runs, and two blocks of the baseline
    assert len(figure.runs) == 3 * 3 + 2
    final = panel.points[0].finals[1]
    assert final.fields["seeds"] == [1005, 1006, 1007, 1008, 1009]
    assert final.tuning == panel.points[0].tuning.hash


BORROWED = {
    "paper": "rtu",
    "title": "Step sizes",
    "panels": {
        "a": {
            "title": "GRU",
            "plot": "step_sizes",
            "curves_of": {
                "figure": "figure9",
                "panels": ["a"],
                "curves": ["gru"],
                "label": "{width}:{truncation}",
            },
        }
    },
}


def test_curves_of_another_figure_are_its_own_tuning_runs(tmp_path):
    write(tmp_path, MINIMAL)
    write(tmp_path, BORROWED, "figure13")
    figures = load_figures(tmp_path, "small")
    lent = [p for p in figures["rtu_figure9"].panels["a"].points if p.curve == "gru"]
    shown = figures["rtu_figure13"].panels["a"].points
    assert [point.label for point in shown] == ["22:1", "7:5"]
    assert list(figures["rtu_figure13"].runs) == [point.tuning.hash for point in lent]


@pytest.mark.parametrize(
    ("field", "value", "parts"),
    [
        ("figure", "figure8", ["curves_of.figure", "unknown figure 'figure8'", "figure9"]),
        ("figure", "figure13", ["curves_of.panels", "is borrowed itself"]),
        ("panels", ["b"], ["curves_of.panels", "unknown panel 'b'"]),
        ("panels", "a", ["curves_of.panels", "must be a list of names"]),
        ("curves", ["lstm"], ["curves_of.curves", "unknown curve 'lstm'", "gru, linear_rtu"]),
        ("label", "{depth}", ["curves_of.label", "names a field", "depth"]),
        ("label", "{width.foo}", ["curves_of.label", "names a field", "foo"]),
        ("label", "{label[x]}", ["curves_of.label", "names a field"]),
    ],
)
def test_borrowing_what_is_not_there_gives_one_message(field, value, parts, tmp_path):
    write(tmp_path, MINIMAL)
    tree = copy.deepcopy(BORROWED)
    tree["panels"]["a"]["curves_of"][field] = value
    path = write(tmp_path, tree, "figure13")
    with pytest.raises(SpecError) as caught:
        load_figure(path, "small")
    for part in (str(path), *parts):
        assert part in str(caught.value)


def test_a_panel_and_a_curve_override_what_is_shared(tmp_path):
    tree = edited("panels.a.learner", {"name": "td", "discount": 0.9})
    tree["panels"]["a"]["curves"]["linear_rtu"]["precision"] = "float64"
    write(tmp_path, tree)
    panel = load_figures(tmp_path, "small")["rtu_figure9"].panels["a"]
    assert {point.fields["learner"]["discount"] for point in panel.points} == {0.9}
    assert {run.fields["discount"] for run in panel.baselines} == {0.9}
    assert [point.fields["precision"] for point in panel.points] == ["float32"] * 2 + ["float64"]
    names = [point.configuration for point in panel.points]
    assert names[0] == "gru of width 22, truncated_bptt 1, discount 0.9"
    assert names[2] == "linear_rtu of width 53, rtrl, discount 0.9, precision float64"


UNROLLED = {
    "paper": "pes",
    "title": "A title",
    "shared": {
        "program": "meta_optimisation",
        "problem": {"name": "return_prediction", "horizon": 100},
        "optimiser": "adam",
    },
    "seeds": {"tuning": 0, "final": 1000},
    "scales": {
        scale: {"particle_steps": 1000, "step_sizes": [1e-3, 1e-2], "final_blocks": 2}
        for scale in SCALES
    },
    "panels": {
        "a": {
            "title": "A panel",
            "plot": {"name": "errors_and_operations", "steps": 100},
            "curves": {
                "tuned": {"estimator": "rtrl"},
                "whole": {"estimator": {"name": "full_es", "particles": 2, "sigma": 0.1}},
                "given": {
                    "estimator": {"name": "pes", "particles": 4, "sigma": 0.1, "truncation": 5},
                    "step_sizes": [3e-3],
                },
                "online": {
                    "program": "online_prediction",
                    "environment": "trace_conditioning",
                    "cell": {"name": "linear_rtu", "width": 2},
                    "credit": "rtrl",
                    "learner": "td",
                },
            },
        }
    },
}


def test_a_curve_may_give_its_step_sizes_or_name_another_program(tmp_path):
    path = tmp_path / "pes" / "figure9.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(UNROLLED))
    given, online, tuned, whole = load_figures(tmp_path, "small")["pes_figure9"].panels["a"].points
    assert tuned.tuning.fields["step_sizes"] == [1e-3, 1e-2]
    assert [run.fields["tuning"] for run in tuned.finals] == [tuned.tuning.hash] * 2
    assert given.tuning is None and len(given.finals) == 2
    assert given.finals[0].fields["step_sizes"] == [3e-3]
    assert online.tuning.fields["program"] == "online_prediction"
    assert "problem" not in online.tuning.fields
    # a budget of particle steps: 1000 / (1 × 1), 1000 / (4 × 5), steps of one learner; an iteration
    # that unrolls two whole inner problems of 100 steps would be made 5 times, and 10 is the least
    steps = [point.finals[0].fields["steps"] for point in (tuned, given, online, whole)]
    assert steps == [1000, 50, 1000, 10]


def test_an_iteration_over_whole_inner_problems_costs_all_their_steps(tmp_path):
    tree = copy.deepcopy(UNROLLED)
    for scale in tree["scales"].values():
        scale["particle_steps"] = 8000
    path = tmp_path / "pes" / "figure9.yaml"
    path.parent.mkdir()
    curves = tree["panels"]["a"]["curves"]
    curves["bptt"] = {"estimator": "bptt"}
    path.write_text(yaml.safe_dump(tree))
    points = load_figures(tmp_path, "small")["pes_figure9"].panels["a"].points
    steps = {point.curve: point.finals[0].fields["steps"] for point in points}
    assert steps["bptt"] == 80 and steps["whole"] == 40  # 8000 / 100, 8000 / (2 × 100)


def test_a_list_may_hold_fractions_but_no_zero(tmp_path):
    tree = copy.deepcopy(UNROLLED)
    for scale in tree["scales"].values():
        scale["lists"] = {"sigmas": [0.1, 1], "widths": [2.0, 4]}
    swept = {"name": "pes", "particles": 4, "sigma": "$sigma", "truncation": 5}
    tree["panels"]["a"]["curves"] = {"pes": {"estimator": swept, "sweep": {"sigma": "sigmas"}}}
    path = tmp_path / "pes" / "figure9.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(tree))
    points = load_figures(tmp_path, "small")["pes_figure9"].panels["a"].points
    assert [point.fields["estimator"]["sigma"] for point in points] == [0.1, 1.0]
    for bad in ([0.1, 0], [0.1, -1], [0.1, "x"], [0, 1], []):
        tree["scales"]["small"]["lists"]["sigmas"] = bad
        path.write_text(yaml.safe_dump(tree))
        with pytest.raises(SpecError, match=r"scales\.small\.lists\.sigmas"):
            load_figure(path, "small")


def test_swept_fields_of_what_is_shared_stand_in_a_configurations_name(tmp_path):
    tree = copy.deepcopy(UNROLLED)
    tree["shared"] = {
        "program": "estimator_variance",
        "problem": {"name": "character_lstm", "horizon": 20},
        "estimator": {"name": "pes", "particles": 4, "sigma": 0.1, "truncation": "$truncation"},
    }
    for scale in tree["scales"].values():
        scale["lists"] = {"truncations": [5, 10]}
    tree["panels"]["a"]["plot"] = "estimator_errors"
    tree["panels"]["a"]["curves"] = {"pes": {"sweep": {"truncation": "truncations"}}}
    path = tmp_path / "pes" / "figure9.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(tree))
    points = load_figures(tmp_path, "small")["pes_figure9"].panels["a"].points
    assert [point.configuration for point in points] == ["truncation 5", "truncation 10"]
    assert all("steps" not in run.fields for point in points for run in point.runs)


def test_a_close_call_is_tuned_on_ten_seeds_and_leaves_the_others_as_they_are(tmp_path):
    write(tmp_path, MINIMAL)
    named = {"panel": "a", "curve": "linear_rtu"}
    write(tmp_path, edited("scales.small.ten_tuning_seeds", [named]), "figure10")
    figures = load_figures(tmp_path, "small")
    five, ten = (figures[name].panels["a"].points for name in ("rtu_figure9", "rtu_figure10"))
    assert [point.tuning.hash for point in five[:-1]] == [point.tuning.hash for point in ten[:-1]]
    assert five[-1].tuning.fields["seeds"] == list(range(5))
    assert ten[-1].tuning.fields["seeds"] == list(range(10))
    assert {run.tuning for run in ten[-1].finals} == {ten[-1].tuning.hash}
    assert ten[-1].configuration == five[-1].configuration


def test_ten_tuning_seeds_must_not_overlap_with_the_final_ones(tmp_path):
    tree = edited("scales.small.ten_tuning_seeds", [{"panel": "a", "curve": "linear_rtu"}])
    tree["seeds"]["final"] = 5
    path = write(tmp_path, tree)
    with pytest.raises(SpecError, match=r"seeds\.final"):
        load_figure(path, "small")


def test_a_budget_of_particle_steps_makes_at_least_so_many_iterations(tmp_path):
    tree = yaml.safe_load((EXPERIMENTS / "pes" / "figure21.yaml").read_text())
    tree["scales"]["small"] = {"particle_steps": 10**6, "least_iterations": 500, "final_blocks": 1}
    path = tmp_path / "pes" / "figure21.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(tree))
    points = load_figures(tmp_path, "small")["pes_figure21"].panels["a"].points
    steps = {point.fields["estimator"]["particles"]: point.fields["steps"] for point in points}
    # K = 100: 1,000 and 330 iterations fit the budget, then it is the least
    assert steps == {10: 1000, 30: 500, 100: 500, 300: 500, 1000: 500}


def test_a_scale_may_show_some_of_the_panels(tmp_path):
    tree = edited("scales.smoke.panels", ["b"])
    tree["panels"]["b"] = copy.deepcopy(tree["panels"]["a"])
    write(tmp_path, tree)
    shown = {scale: load_figures(tmp_path, scale)["rtu_figure9"].panels for scale in SCALES}
    assert {scale: list(panels) for scale, panels in shown.items()} == {
        "smoke": ["b"],
        "small": ["a", "b"],
        "medium": ["a", "b"],
        "paper": ["a", "b"],
    }


def test_a_drawing_needs_neither_runs_nor_scales(tmp_path):
    write(tmp_path, MINIMAL)
    panels = {"a": {"title": "MDP", "plot": "three_state_mdp"}}
    write(tmp_path, {"paper": "rtu", "title": "A drawing", "panels": panels}, "figure7")
    config = {"experiments": str(tmp_path), "scale": "paper"}
    plan = make_plan(config)
    assert plan.figures["rtu_figure7"].runs == {}
    assert plan.tables("rtu_figure7", "") == []


def test_another_scale_changes_numbers_and_nothing_else(tmp_path):
    tree = edited("scales.paper.steps", 2000)
    write(tmp_path, tree)
    small, paper = (load_figures(tmp_path, scale)["rtu_figure9"] for scale in ("small", "paper"))
    for one, other in zip(small.runs.values(), paper.runs.values(), strict=True):
        ignored = ("steps", "tuning")
        kept = [{k: v for k, v in run.fields.items() if k not in ignored} for run in (one, other)]
        assert kept[0] == kept[1]
        assert (one.fields["steps"], other.fields["steps"]) == (1000, 2000)


def test_targets_cover_panels_figures_papers_and_all(tmp_path):
    write(tmp_path, MINIMAL)
    write(tmp_path, MINIMAL, "figure10")
    known = targets(load_figures(tmp_path, "small"))
    assert known["figure9"] == known["rtu_figure9"] == {"rtu_figure9"}
    assert known["rtu_figure9a"] == known["figure9a"] == {"rtu_figure9a"}
    assert known["rtu"] == known["all"] == {"rtu_figure9", "rtu_figure10"}


@pytest.mark.parametrize("scale", SCALES)
def test_shipped_files_are_sound_and_small_enough(scale):
    figure = load_figures(EXPERIMENTS, scale)["rtu_figure2"]
    limit = {"smoke": 30, "small": 200, "medium": 400, "paper": 2000}[scale]
    assert len(figure.runs) <= limit


@pytest.mark.parametrize("scale", SCALES)
def test_the_figures_of_step_sizes_add_no_run(scale):
    figures = load_figures(EXPERIMENTS, scale)
    for number, source in ((13, 2), (14, 2), (15, 2), (16, 2), (17, 11)):
        shown, lender = (figures[f"rtu_figure{n}"] for n in (number, source))
        assert shown.runs
        assert set(shown.runs) <= {p.tuning.hash for q in lender.panels.values() for p in q.points}


def test_unrolling_the_whole_run_is_counted_at_the_scales_own_length(tmp_path):
    unrolled = {"cell": {"name": "gru", "width": 2}, "credit": "bptt"}
    tree = edited("panels.a.curves.unrolled", unrolled)
    figure = load_figures(write(tmp_path, tree).parents[1], "small")["rtu_figure9"]
    (point,) = [point for point in figure.panels["a"].points if point.curve == "unrolled"]
    assert point.fields["credit"] == {"name": "bptt", "truncation": 1000}
    assert point.costs["flops"] == 3 * 1000 * (6 * 2 * (12 + 2) + 20 * 2)


def test_figure_1_shares_the_runs_of_cells_that_other_figures_show_too():
    figures = load_figures(EXPERIMENTS, "small")
    for other in ("rtu_companion_fidelity", "rtu_figure12"):
        shared = set(figures["rtu_figure1"].runs) & set(figures[other].runs)
        cells = [figures["rtu_figure1"].runs[name].fields.get("cell", {}) for name in shared]
        assert "linear_rtu" in {cell.get("name") for cell in cells}


def test_the_companion_of_figure_8_has_96_settings_each_run_once_and_shown_at_two_lengths():
    figure = load_figures(EXPERIMENTS, "small")["rtu_companion_eigenvalues"]
    assert len(figure.runs) == 24
    settings = set()
    for run in figure.runs.values():
        assert run.tuning is None and run.fields["steps"] == 50_000
        assert len(run.fields["seeds"]) == 5
        cell, window = run.fields["cell"], run.fields["credit"]["truncation"]
        setting = run.fields["optimiser"], cell["recurrent_init"], cell["bias"], window
        settings |= {(*setting, size) for size in run.fields["step_sizes"]}
    assert len(settings) == 96
    values = [set(column) for column in zip(*settings, strict=True)]
    assert [len(column) for column in values] == [2, 3, 2, 2, 6]
    early, late = (figure.panels[name] for name in "ab")
    assert (early.plot["steps"], late.plot["steps"]) == (10_000, 50_000)
    assert [run.hash for run in early.runs] == [run.hash for run in late.runs]


def test_figure_2_matches_budgets_and_shares_runs_between_panels():
    figure = load_figures(EXPERIMENTS, "small")["rtu_figure2"]
    for point in figure.panels["a"].points:
        assert 0.5 * 15_000 < point.costs["flops"] <= 15_000
    by_size = {}
    for point in figure.panels["c"].points:
        by_size.setdefault(point.sweep["size"], {})[point.curve] = point
    for curves in by_size.values():
        assert all(p.costs["flops"] <= curves["gru"].costs["flops"] for p in curves.values())
    for panel, quantity in (("b", "flops"), ("d", "parameters")):
        points = {(p.curve, *p.sweep.values()): p for p in figure.panels[panel].points}
        for (curve, *sweep), point in points.items():
            reference = points["gru", *sweep]
            if curve.endswith("rtu"):
                assert point.costs[quantity] <= reference.costs[quantity]
    fixed = {p.fields["cell"]["width"] for p in figure.panels["b"].points if p.curve == "lru"}
    assert len(fixed) == 1
    runs = [run.hash for panel in figure.panels.values() for run in panel.runs]
    assert len(set(runs)) < len(runs)


def test_what_is_measured_side_by_side_is_measured_once_and_in_one_run_of_the_figure():
    for scale in ("smoke", "small"):
        figures = load_figures(EXPERIMENTS, scale)
        for name, members in (("rtu_figure3", "agents"), ("pes_table1", "cases")):
            points = [p for panel in figures[name].panels.values() for p in panel.points]
            (run,) = figures[name].runs.values()
            agents = run.fields[members]
            assert len(agents) == len({yaml.safe_dump(agent) for agent in agents})
            assert {point.agent for point in points} == set(range(len(agents)))
            for point in points:
                assert point.finals == [run]
                measured = agents[point.agent]
                assert measured == {kind: point.fields[kind] for kind in measured}


TIMES = {
    "title": "Times",
    "plot": {"name": "update_times", "x": "truncation", "x_label": "T"},
    "program": "update_timing",
    "curves": {
        "gru": {
            "cell": {"name": "gru", "width": 4},
            "credit": {"name": "truncated_bptt", "truncation": "$truncation"},
            "sweep": {"truncation": "truncations"},
        }
    },
}


def _times(**panels: dict) -> dict:
    """A figure of such panels, each with what is particular to it."""
    tree = edited("panels", {name: {**TIMES, **own} for name, own in panels.items()})
    tree["shared"].pop("program")
    return tree


def test_what_differs_in_more_than_its_agent_is_measured_apart(tmp_path):
    default = {"repeats": PROGRAMS["update_timing"].fields["repeats"].default}
    write(tmp_path, _times(a={}, b=default, c={"repeats": 7}))
    panels = load_figures(tmp_path, "small")["rtu_figure9"].panels
    runs = {name: panel.points[0].finals[0] for name, panel in panels.items()}
    assert runs["a"].hash == runs["b"].hash != runs["c"].hash
    assert runs["c"].fields["repeats"] == 7
    assert [point.agent for panel in panels.values() for point in panel.points] == [0, 1] * 3


def test_borrowed_times_are_those_of_the_figure_that_lends_them(tmp_path):
    write(tmp_path, _times(a={}))
    borrowed = {"curves_of": {"figure": "figure9", "panels": ["a"], "curves": ["gru"]}}
    tree = _times(a=borrowed)
    del tree["panels"]["a"]["curves"], tree["panels"]["a"]["program"]
    write(tmp_path, tree, "figure8")
    figures = load_figures(tmp_path, "small")
    assert list(figures["rtu_figure8"].runs) == list(figures["rtu_figure9"].runs)


@pytest.mark.parametrize("value", [-1, float("nan"), "many"])
def test_a_broken_number_of_repeats_is_named_by_its_place(value, tmp_path):
    path = write(tmp_path, _times(a={"repeats": value}))
    with pytest.raises(SpecError, match=rf"{path}: panels\.a\.repeats: must be"):
        load_figure(path, "small")


def test_an_editors_file_is_no_experiment(tmp_path):
    folder = shutil.copytree(EXPERIMENTS / "bridge", tmp_path / "bridge").parent
    (folder / "bridge" / ".#figure1.yaml").symlink_to("someone@host.1234:5678")
    (folder / "bridge" / ".figure1.yaml").write_text("half a li")
    named = {f"bridge_{path.stem}" for path in (EXPERIMENTS / "bridge").glob("[a-z]*.yaml")}
    assert "bridge_figure1" in named and set(load_figures(folder, "smoke")) == named
