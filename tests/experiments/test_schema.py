"""The JSON schema of experiment files refuses what the suite refuses, and nothing else."""

import copy
from pathlib import Path

import jsonschema
import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.catalogue import KINDS, CatalogueError, Field, lookup
from untruncated.experiments import keys
from untruncated.experiments.expansion import load_figure
from untruncated.experiments.figures import SCALES
from untruncated.experiments.reading import read_yaml
from untruncated.experiments.schema import experiment_schema, schema_text, value_schema

ROOT = Path(__file__).parents[2]
FILES = sorted(ROOT.glob("experiments/*/*.yaml"))
SCHEMA = experiment_schema()
CHECK = jsonschema.Draft202012Validator(SCHEMA)

FIGURE = """
paper: mine
title: A figure
shared:
  program: online_prediction
  environment: {name: trace_conditioning, interval: 10}
  learner: td
  credit: rtrl
seeds: {tuning: 0, final: 1000}
scales:
  smoke: &scale {steps: 1_000, step_sizes: [1e-3, 0.01], final_blocks: 1, lists: {widths: [1, 2]}}
  small: *scale
  paper: *scale
panels:
  a:
    title: A panel
    plot: {name: sweep_lines, x: width, x_label: width}
    baseline: {label: best, program: optimal_prediction}
    curves:
      rtu:
        label: an RTU
        cell: {name: linear_rtu, width: $width}
        sweep: {width: widths}
"""
CURVE = ("panels", "a", "curves", "rtu")


def test_the_committed_schema_is_the_catalogues():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    text = (ROOT / "experiments" / "schema.json").read_text(encoding="utf-8")
    assert text == schema_text(), "make it anew with: make docs"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}_{path.stem}")
def test_every_experiment_is_valid_and_tells_editors_where_the_schema_is(path):
    CHECK.validate(read_yaml(path))
    assert path.read_text().startswith("# yaml-language-server: $schema=../schema.json\n")


def test_the_schema_has_the_keys_that_are_read():
    def names(part):
        return set(part["properties"])

    parts = SCHEMA["$defs"]
    assert names(SCHEMA) == set(keys.FIGURE_KEYS)
    assert names(parts["scale"]) == set(keys.SCALE_KEYS)
    assert names(parts["panel"]) == set(keys.PANEL_KEYS)
    assert names(parts["panel"]["properties"]["curves_of"]) == set(keys.CURVES_OF_KEYS)
    assert names(parts["curve"]) == set(keys.CURVE_KEYS)
    assert names(parts["run"]) == set(keys.RUN_KEYS)


def changed(place, value):
    """The figure with another value at a place; without it, if the value is None."""
    tree = copy.deepcopy(yaml.safe_load(FIGURE))
    *way, last = place
    inside = tree
    for key in way:
        inside = inside[key]
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    return tree


@pytest.fixture
def told(tmp_path):
    """What the suite says of a tree; empty if it is a figure at every scale."""
    path = tmp_path / "mine" / "figure1.yaml"
    path.parent.mkdir()

    def of(tree):
        path.write_text(yaml.safe_dump(tree, sort_keys=False, allow_unicode=True))
        try:
            for scale in SCALES:
                load_figure(path, scale)
        except SpecError as error:
            return str(error)
        return ""

    return of


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("titel",), "A figure"),
        (("title",), None),
        (("title",), 3),
        (("panels",), {}),
        (("panels", "A"), {}),
        (("seeds", "tuning"), -1),
        (("seeds", "final"), None),
        (("scales", "small"), None),
        (("scales", "tiny"), {}),
        (("scales", "smoke", "step"), 10),
        (("scales", "smoke", "steps"), 1.5),
        (("scales", "smoke", "steps"), 2**31),
        (("scales", "smoke", "step_sizes"), 0.1),
        (("scales", "smoke", "step_sizes"), []),
        (("scales", "smoke", "step_sizes"), [0.1, 0.1]),
        (("scales", "smoke", "lists", "widths"), [0]),
        (("scales", "smoke", "run"), {"cel": "gru"}),
        (("scales", "smoke", "ten_tuning_seeds"), ["linear_rtu of width 1, rtrl"]),
        (("scales", "smoke", "ten_tuning_seeds"), [{"panel": "a", "width": 1}]),
        (
            ("scales", "smoke", "ten_tuning_seeds"),
            [{"panel": "a", "curve": "rtu", "width": 1, "why": "so"}],
        ),
        (
            ("scales", "smoke", "acknowledged_edges"),
            [{"panel": "a", "curve": "rtu", "width": 1}],
        ),
        (("shared", "program"), "online_predict"),
        (("shared", "precision"), "float16"),
        (("shared", "learner"), "td_lambda"),
        (("shared", "learner"), {"name": "td", "discount": 1}),
        (("shared", "learner"), {"name": "td", "discount": "high"}),
        (("shared", "learner"), {"discount": 0.9}),
        (("shared", "environment", "intervals"), 7),
        (("shared", "environment", "interval"), 6),
        (("shared", "environment", "interval"), True),
        (("shared", "credit"), {"name": "truncated_bptt"}),
        (("shared", "credit"), "truncated_bptt"),
        ((*CURVE, "lable"), "an RTU"),
        ((*CURVE, "label"), 3),
        ((*CURVE, "cell"), "linear_rtu"),
        ((*CURVE, "cell", "width"), 0),
        ((*CURVE, "cell", "width"), {"flop": 1000}),
        ((*CURVE, "cell", "width"), {"flops": 0}),
        ((*CURVE, "cell", "width"), {"flops": 10_000, "parameters": 10_000}),
        ((*CURVE, "cell", "width"), {"flops_of": {"cell": {"name": "gru", "width": 2}}}),
        ((*CURVE, "cell", "activation"), "gelu"),
        ((*CURVE, "cell", "halved"), True),
        ((*CURVE, "sweep"), "widths"),
        (("panels", "a", "plot"), "sweep_line"),
        (("panels", "a", "plot"), "sweep_lines"),
        (("panels", "a", "plot", "x_scale"), "logarithmic"),
        (("panels", "a", "plot", "show_costs"), "yes"),
        (("panels", "a", "curves"), {}),
        (("panels", "a", "baseline"), {"label": "best"}),
        (("panels", "a", "curves_of"), {"figure": "figure2", "panels": ["a"]}),
        (("claims",), [{"id": "c", "text": "so"}]),
    ],
    ids=str,
)
def test_a_mistake_is_refused_by_both(place, value, told):
    tree = changed(place, value)
    assert told(tree) and not CHECK.is_valid(tree)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("title",), "A figure"),
        (("caption",), "{steps:,} steps"),
        (
            ("scales", "medium"),
            {"steps": 10, "step_sizes": [1], "final_blocks": 1, "lists": {"widths": [3]}},
        ),
        (("scales", "smoke", "steps"), "1e3"),
        (("scales", "smoke", "steps"), 1000.0),
        (("scales", "smoke", "step_sizes"), ["1e-3", 0]),
        (("scales", "smoke", "ten_tuning_seeds"), [{"panel": "a", "curve": "rtu", "width": 1}]),
        (
            ("scales", "smoke", "acknowledged_edges"),
            [{"panel": "a", "curve": "rtu", "width": [1, "2"], "why": "so"}],
        ),
        (("scales", "smoke", "run"), {"precision": "float64"}),
        (("shared", "learner"), {"name": "td", "trace_decay": 1, "hidden": "2"}),
        (("shared", "credit"), {"name": "rtrl"}),
        ((*CURVE, "label"), None),
        ((*CURVE, "fidelity"), "reference"),
        ((*CURVE, "environment"), "trace_conditioning"),
        ((*CURVE, "environment"), {"name": "trace_conditioning", "distractors": "$width"}),
        ((*CURVE, "credit"), {"name": "truncated_bptt", "truncation": "$width"}),
        ((*CURVE, "cell"), {"name": "lru", "width": 8, "outputs": None, "skip": True}),
        ((*CURVE, "cell", "width"), {"flops": 100_000_000}),
        (
            (*CURVE, "cell", "width"),
            {"flops_of": {"cell": {"name": "gru", "width": "$width"}, "credit": "dense_rtrl"}},
        ),
        ((*CURVE, "cell", "width"), {"parameters_of": {"cell": {"name": "gru", "width": 2}}}),
        (("panels", "a", "plot", "x_scale"), "log"),
        (("panels", "a", "baseline", "steps"), 100),
        (("panels", "a", "baseline"), None),
        (("claims",), [{"id": "c", "text": "so", "source": "page 3"}]),
    ],
    ids=str,
)
def test_what_is_meant_is_accepted_by_both(place, value, told):
    tree = changed(place, value)
    assert told(tree) == ""
    CHECK.validate(tree)


def test_a_strangers_component_may_have_any_fields():
    for cell in ("mine.cells:Leaky", {"name": "mine.cells:Leaky", "leak": [1]}):
        CHECK.validate(changed((*CURVE, "cell"), cell))
    assert not CHECK.is_valid(changed(("shared", "learner"), "mine.agents:TD"))


FIELDS = [
    (kind, name, key)
    for kind, entries in KINDS.items()
    for name, entry in entries.items()
    for key in entry.fields
]
VALUES = [
    -(2**31),
    -1,
    0,
    1,
    2,
    3,
    5,
    7,
    10,
    64,
    1000,
    2**31 - 1,
    2**31,
    1e-40,
    1e-3,
    0.5,
    1.0,
    1.5,
]
VALUES += [1e300, None, True, False, "", "log", "relu", "A", "exact", [], {}]


@pytest.mark.parametrize(("kind", "name", "key"), FIELDS)
def test_a_field_may_be_in_an_editor_what_it_may_be_in_a_run(kind, name, key):
    field = lookup(kind, name, kind).fields[key]
    check = jsonschema.Draft202012Validator(value_schema(field))
    for value in VALUES:
        try:
            field.coerce(value, key)
        except CatalogueError as error:
            # JSON has no word for what float32 cannot hold
            assert not check.is_valid(value) or "float32" in str(error), value
        else:
            assert check.is_valid(value), value


def test_numbers_that_yaml_takes_for_texts_are_numbers():
    check = jsonschema.Draft202012Validator(value_schema(Field(float, minimum=0)))
    assert all(check.is_valid(text) for text in ("1e-3", "15_000", ".5", "+3"))
    assert not any(check.is_valid(text) for text in ("010", "0x1F", "1:30", "$width", "e"))
