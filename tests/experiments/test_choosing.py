"""Entries of `ten_tuning_seeds` and `acknowledged_edges` name curves and what they sweep over."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.experiments.expansion import load_figure
from untruncated.experiments.figures import Figure

NUMBERS = {
    "steps": 1000,
    "step_sizes": [1e-3, 1e-2],
    "final_blocks": 1,
    "lists": {"windows": [1, 5], "one": [5], "sizes": [2, 4], "decays": [0.5, 1]},
}
GRU = {
    "cell": {"name": "gru", "width": "$size"},
    "credit": {"name": "truncated_bptt", "truncation": "$window"},
}
TREE = {
    "paper": "rtu",
    "title": "A title",
    "shared": {
        "program": "online_prediction",
        "environment": "trace_conditioning",
        "learner": "td",
    },
    "seeds": {"tuning": 0, "final": 1000},
    "scales": {name: NUMBERS for name in ("smoke", "small", "paper")},
    "panels": {
        "a": {
            "title": "T",
            "plot": {"name": "sweep_lines", "x": "window", "x_label": "T"},
            "curves": {
                "gru": {**GRU, "sweep": {"window": "windows", "size": "sizes"}},
                "rtu": {"cell": {"name": "linear_rtu", "width": 3}, "credit": "rtrl"},
            },
        },
        "b": {
            "title": "T",
            "plot": {"name": "errors_and_operations", "steps": 10},
            "curves": {
                "gru": {**GRU, "sweep": {"size": "sizes", "window": "one"}},
                "decays": {
                    **GRU,
                    "learner": {"name": "td", "trace_decay": "$decay"},
                    "cell": {"name": "gru", "width": 2},
                    "sweep": {"decay": "decays", "window": "one"},
                },
            },
        },
        "c": {
            "title": "T",
            "plot": {"name": "update_times", "x": "window", "x_label": "T"},
            "program": "update_timing",
            "curves": {"gru": {**GRU, "sweep": {"window": "windows", "size": "sizes"}}},
        },
    },
}


def write(folder: Path, **entries: object) -> Path:
    """An experiment file whose scale small has these entries."""
    tree = copy.deepcopy(TREE)
    tree["scales"]["small"] = {**NUMBERS, **entries}
    path = folder / "rtu" / "figure9.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    return path


def on_ten(figure: Figure) -> set[tuple]:
    """Panel, curve and swept values of all that is tuned on ten seeds, and on those of five."""
    points = [(panel.name, point) for panel in figure.panels.values() for point in panel.points]
    tuned = {
        (name, point.curve, *point.sweep.values()): len(point.tuning.fields["seeds"])
        for name, point in points
        if point.tuning
    }
    assert set(tuned.values()) <= {5, 10}
    return {name for name, seeds in tuned.items() if seeds == 10}


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({"panel": "a", "curve": "rtu"}, {("a", "rtu")}),
        ({"panel": "a", "curve": "gru", "window": 1, "size": 4}, {("a", "gru", 1, 4)}),
        # in two panels: one entry suffices, wherever it stands
        (
            {"panel": "a", "curve": "gru", "window": 5, "size": 4},
            {("a", "gru", 5, 4), ("b", "gru", 4, 5)},
        ),
        ({"panel": "b", "curve": "gru", "size": 4}, {("a", "gru", 5, 4), ("b", "gru", 4, 5)}),
        (
            {"panel": "a", "curve": "gru", "window": [1, 5], "size": [2]},
            {("a", "gru", 1, 2), ("a", "gru", 5, 2), ("b", "gru", 2, 5)},
        ),
        ({"panel": "b", "curve": "decays", "decay": 0.5}, {("b", "decays", 0.5, 5)}),
        ({"panel": "b", "curve": "decays", "decay": "1.0"}, {("b", "decays", 1, 5)}),
    ],
)
def test_an_entry_names_a_configuration_in_every_panel_that_shows_it(entry, named, tmp_path):
    assert on_ten(load_figure(write(tmp_path, ten_tuning_seeds=[entry]), "small")) == named


def test_a_reason_is_that_of_the_configurations_named_and_of_no_other(tmp_path):
    edges = [
        {"panel": "a", "curve": "rtu", "why": "diverges"},
        {"panel": "a", "curve": "gru", "window": 5, "size": [2, 4], "why": "is flat"},
    ]
    path = write(tmp_path, acknowledged_edges=edges)
    reasons = {
        (panel.name, point.curve, *point.sweep.values()): point.edge
        for panel in load_figure(path, "small").panels.values()
        for point in panel.points
        if point.edge
    }
    flat = {("a", "gru", 5, 2), ("a", "gru", 5, 4), ("b", "gru", 2, 5), ("b", "gru", 4, 5)}
    assert reasons == {("a", "rtu"): "diverges"} | dict.fromkeys(flat, "is flat")
    assert on_ten(load_figure(path, "small")) == set()


ALL = {"panel": "a", "curve": "gru", "window": 1, "size": 2}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"a": 1}, ": must be a list of entries with panel, curve and swept values, not {'a': 1}"),
        (["gru of width 8"], "[0]: must be a mapping, not 'gru of width 8'"),
        ([{"panel": "a"}], "[0].curve: is missing"),
        ([{"curve": "gru"}], "[0].panel: is missing"),
        ([{**ALL, "panel": "d"}], "[0].panel: unknown panel 'd'. Allowed: a, b, c"),
        ([{**ALL, "curve": "gruu"}], "[0].curve: unknown curve 'gruu' (did you mean 'gru'?)"),
        ([{**ALL, "windw": 1}], "[0].windw: unknown sweep variable 'windw' (did you mean 'window'"),
        ([{**ALL, "why": "so"}], "[0].why: stands in acknowledged_edges alone"),
        ([ALL | {"window": 7}], "[0].window: unknown value 7. Allowed: 1, 5"),
        ([ALL | {"window": [1, 7]}], "[0].window: unknown value 7. Allowed: 1, 5"),
        ([ALL | {"window": [1, 1]}], "[0].window: names a number twice: [1.0, 1.0]"),
        ([ALL | {"window": "long"}], "[0].window: must be a number, not 'long'"),
        (
            [{"panel": "a", "curve": "gru"}],
            "[0]: names 4 configurations: give window and size",
        ),
        ([{"panel": "a", "curve": "gru", "size": 2}], "[0]: names 2 configurations: give window"),
        ([{"panel": "b", "curve": "gru"}], "[0]: names 2 configurations: give size"),
        (
            [{"panel": "a", "curve": "rtu"}, ALL, {**ALL, "window": [5, 1]}],
            "[2]: gru of width 2, truncated_bptt 1 is named by scales.small.ten_tuning_seeds[1] "
            "already",
        ),
        ([{**ALL, "panel": "c"}], "[0]: gru of width 2, truncated_bptt 1 is not tuned"),
    ],
)
def test_what_names_nothing_or_too_much_is_refused_at_its_place(entries, message, tmp_path):
    path = write(tmp_path, ten_tuning_seeds=entries)
    with pytest.raises(SpecError, match=re.escape(f"scales.small.ten_tuning_seeds{message}")):
        load_figure(path, "small")


def test_an_edge_needs_a_reason(tmp_path):
    path = write(tmp_path, acknowledged_edges=[{"panel": "a", "curve": "rtu"}])
    where = r"figure9\.yaml: scales\.small\.acknowledged_edges\[0\]\.why: is missing"
    with pytest.raises(SpecError, match=where):
        load_figure(path, "small")


def test_a_sweep_variable_has_no_name_that_an_entry_needs(tmp_path):
    path = write(tmp_path)
    tree = yaml.safe_load(path.read_text())
    tree["panels"]["a"]["curves"]["rtu"]["sweep"] = {"curve": "sizes"}
    path.write_text(yaml.safe_dump(tree))
    with pytest.raises(SpecError, match=r"panels\.a\.curves\.rtu\.sweep\.curve: is no name"):
        load_figure(path, "small")
