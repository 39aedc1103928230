"""Every error names the place where the text stands that is wrong, in the file that has it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.catalogue import KINDS
from untruncated.experiments.expansion import load_figure
from untruncated.experiments.keys import COMPONENTS

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FILES = sorted(path.relative_to(EXPERIMENTS) for path in EXPERIMENTS.glob("*/*.yaml"))
WRONG = ["wrong"]  # no field takes a list
NAMES = {"name": "no_such_name", "no_such_field": 1}


def mentions(tree: dict) -> Iterator[tuple[str, dict, str]]:
    """Every place where a component stands: its path, the mapping around it, and its kind there."""
    parts = [("shared", tree.get("shared", {}))]
    parts += [
        (f"scales.{name}.run", s.get("run", {})) for name, s in tree.get("scales", {}).items()
    ]
    for name, panel in tree["panels"].items():
        parts += [(f"panels.{name}", panel), (f"panels.{name}.baseline", panel.get("baseline", {}))]
        curves = panel.get("curves", {}).items()
        parts += [(f"panels.{name}.curves.{curve}", fields) for curve, fields in curves]
        yield f"panels.{name}.plot", panel, "plot"
    for where, part in parts:
        for kind in COMPONENTS:
            if kind in part:
                yield from within(f"{where}.{kind}", part, kind)


def within(path: str, around: dict, kind: str) -> Iterator[tuple[str, dict, str]]:
    """A component, and those whose costs are the budget of its width."""
    yield path, around, kind
    width = around[kind].get("width") if isinstance(around[kind], dict) else None
    for form in ("flops_of", "parameters_of"):
        if isinstance(width, dict) and form in width:
            for part in width[form]:
                yield from within(f"{path}.width.{form}.{part}", width[form], part)


def spoiled(tree: dict) -> Iterator[tuple[str, set[str]]]:
    """The file's text with one component spoiled, and the places that may be named for it.

    An anchor and its aliases are one mapping here, which stands at several places.
    """
    found: dict[tuple, list[tuple[str, dict, str]]] = {}
    for path, around, kind in mentions(tree):
        shared = isinstance(around[kind], dict)
        key = (id(around[kind]),) if shared else (id(around), kind)
        found.setdefault(key, []).append((path, around, kind))
    for same in found.values():
        _, around, kind = same[0]
        value = around[kind]
        given = value if isinstance(value, dict) else {"name": value}
        fields = KINDS[kind][given["name"]].fields
        stated = [key for key in given if key in fields] or list(fields)[:1]
        for key, wrong in (*NAMES.items(), *((key, WRONG) for key in stated)):
            alone = key == "name" and given is not value
            changed = wrong if alone else {**given, key: wrong}
            for _, other, _ in same:
                other[kind] = changed
            text = yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False)
            yield text, {path if alone else f"{path}.{key}" for path, _, _ in same}
        for _, other, _ in same:
            other[kind] = value


def told(path: Path, scale: str = "small") -> tuple[str, str, str]:
    """File, place and problem of the error that a file gives."""
    with pytest.raises(SpecError) as caught:
        load_figure(path, scale)
    file, place, problem = re.fullmatch(r"(\S+\.yaml): (\S+): (.*)", str(caught.value)).groups()
    return str(Path(file).name), place, problem


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shutil.copytree(EXPERIMENTS, tmp_path_factory.mktemp("places") / "experiments")


@pytest.mark.parametrize("name", FILES, ids=str)
def test_a_component_that_is_wrong_is_told_where_it_stands(name, folder):
    path = folder / name
    whole, count = path.read_text(), 0
    for text, expected in spoiled(yaml.safe_load(whole)):
        path.write_text(text)
        file, place, problem = told(path)
        assert file == path.name and place in expected, f"{place}: {problem}, not {expected}"
        count += 1
    path.write_text(whole)
    assert count >= 2


def at(tree: dict, path: str, value: Any) -> dict:
    """The tree with a value at a dotted path."""
    *above, last = path.split(".")
    node = tree
    for key in above:
        node = node.setdefault(key, {})
    node[last] = value
    return tree


WIDE = {
    "name": "lru",
    "width": {"flops_of": {"cell": {"name": "gru", "width": 8}, "credit": "rtrl"}},
}
LEAKY = {"cell": {"name": "gru", "width": 8}}


@pytest.mark.parametrize(
    ("file", "changed", "value", "scale", "place", "problem"),
    [
        # the file has no shared.environment
        (
            "bridge/figure1",
            "panels.a.curves.td.environment",
            {"name": "trace_conditioning", "intervall": 3},
            "small",
            "panels.a.curves.td.environment.intervall",
            "unknown field 'intervall'",
        ),
        # what does not fit: the part that is said, wherever it is said
        ("rtu/figure1", "panels.a.curves.gru", LEAKY, "small", "shared.credit", "with 'rtrl'"),
        (
            "rtu/figure1",
            "scales.smoke.run",
            {"credit": {"name": "truncated_bptt", "truncation": 2}, "fidelity": "reference"},
            "smoke",
            "scales.smoke.run.fidelity",
            "would change nothing here",
        ),
        (
            "rtu/companion_targets_e10",
            "panels.c.learner",
            {"name": "delayed_return", "discount": 0.99, "delay": 5},
            "small",
            "panels.c.learner.delay",
            "5 steps cut off more than 0.1 %",
        ),
        (
            "rtu/figure2",
            "panels.b.curves.lru.cell",
            WIDE,
            "small",
            "panels.b.curves.lru.cell.width.flops_of.credit",
            "cell 'gru' cannot be trained with 'rtrl'",
        ),
        (
            "rtu/figure2",
            "panels.a.curves.gru.cell",
            {"name": "gru", "width": {"flops": 10}},
            "small",
            "panels.a.curves.gru.cell.width",
            "no width of 'gru' meets 10 FLOPs per step",
        ),
        (
            "bridge/figure1",
            "shared.problem.horizon",
            333,
            "small",
            "panels.b.curves.pes.estimator.truncation",
            "must be at most 333",
        ),
        # programs, and their own fields
        ("rtu/figure2", "shared.program", "online", "small", "shared.program", "unknown value"),
        ("rtu/figure2", "panels.b.program", "online", "small", "panels.b.program", "unknown"),
        (
            "rtu/figure3",
            "scales.small.run.repeats",
            0,
            "small",
            "scales.small.run.repeats",
            "at least",
        ),
        ("pes/figure6", "shared.precision", "float16", "small", "shared.precision", "float32"),
        ("rtu/figure2", "panels.d.repeats", 3, "small", "panels.d.repeats", "unknown field"),
        (
            "rtu/figure2",
            "shared.problem",
            "toy_regression",
            "small",
            "shared.problem",
            "unknown field",
        ),
        (
            "rtu/figure2",
            "panels.a.baseline.low",
            3,
            "small",
            "panels.a.baseline.low",
            "unknown field 'low'",
        ),
        (
            "rtu/figure2",
            "panels.a.baseline.discount",
            0.9,
            "small",
            "panels.a.baseline.discount",
            "must be the learner's",
        ),
        (
            "bridge/figure1",
            "panels.a.curves.rtrl.step_sizes",
            [1, "fast"],
            "small",
            "panels.a.curves.rtrl.step_sizes[1]",
            "must be a number",
        ),
        # numbers of a scale, at that scale alone
        (
            "rtu/figure2",
            "scales.paper.steps",
            1001,
            "paper",
            "scales.paper.steps",
            "multiple of 10",
        ),
        (
            "rtu/companion_eigenvalues",
            "scales.small.lists.truncations",
            [0.5],
            "small",
            "panels.a.curves.orthogonal.credit.truncation",
            "must be a whole number, not 0.5 ($truncation of the sweep)",
        ),
        ("rtu/figure2", "seeds.final", 2**31 - 20, "small", "seeds.final", "must be at most"),
        ("rtu/figure2", "seeds.final", 2**31, "small", "seeds.final", "must be at most"),
    ],
)
def test_what_is_wrong_is_told_where_it_stands(
    file, changed, value, scale, place, problem, tmp_path
):
    path = shutil.copytree(EXPERIMENTS, tmp_path / "experiments") / f"{file}.yaml"
    tree = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(at(tree, changed, value), sort_keys=False))
    name, where, text = told(path, scale)
    assert (name, where) == (path.name, place) and problem in text


@pytest.mark.parametrize("changed", ["shared.environment", "panels.c.curves.gru.credit.truncation"])
def test_what_is_wrong_with_borrowed_curves_is_told_of_the_file_that_lends_them(changed, tmp_path):
    folder = shutil.copytree(EXPERIMENTS, tmp_path / "experiments")
    lender = folder / "rtu" / "figure2.yaml"
    tree = yaml.safe_load(lender.read_text())
    lender.write_text(yaml.safe_dump(at(tree, changed, -1)))
    name, place, _ = told(folder / "rtu" / "figure13.yaml")
    assert (name, place) == ("figure2.yaml", changed)
