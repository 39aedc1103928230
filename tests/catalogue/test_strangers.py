"""Components of somebody's own package: what their entries must say, and what is said if not."""

import re
from dataclasses import dataclass

import pytest

from untruncated.catalogue import (
    CatalogueError,
    CellEntry,
    EnvironmentEntry,
    EstimatorEntry,
    Field,
    ProblemEntry,
    lookup,
)
from untruncated.catalogue.strangers import STRANGERS

OWN = """
from dataclasses import dataclass
from untruncated.catalogue import (
    CellEntry, EnvironmentEntry, EstimatorEntry, Field, ProblemEntry
)

COSTS = {"parameters": lambda fields, inputs: 1, "flops": lambda fields, inputs, credit: 1}


class Cell:
    def __init__(self, inputs, width): ...
    def init(self, key): ...
    def initial_state(self): ...
    def derive(self, params): ...
    def drive(self, params, derived, x): ...
    def step(self, params, derived, state, drive): ...
    def features(self, params, state, x): ...
    def constrain(self, params): ...

class Environment:
    def __init__(self, size): ...
    def reset(self, key): ...
    def step(self, state): ...

class Estimator:
    def __init__(self, sigma): ...
    def init(self, problem, theta, key): ...
    def step(self, problem, theta, state, key): ...
    def inner_steps(self, problem): ...

class Problem:
    def __init__(self, horizon): ...
    def initial_theta(self, key): ...
    def initial_state(self, key): ...
    def unroll_step(self, theta, state, t, key): ...

Cell.catalogue_entry = CellEntry(
    "strangers_own:Cell", {"width": Field(int)}, credits=("truncated_bptt",), **COSTS
)
Environment.catalogue_entry = EnvironmentEntry(
    "strangers_own:Environment", {"size": Field(int)}, observation_size=lambda fields: 0
)
Estimator.catalogue_entry = EstimatorEntry(
    "strangers_own:Estimator", {"sigma": Field(float)},
    operations=lambda sizes: sizes.state, numbers=lambda sizes: sizes.height,
)
Problem.catalogue_entry = ProblemEntry("strangers_own:Problem", {"horizon": Field(int)})
Alias = Cell

class Child(Estimator): ...
class Elsewhere(Problem):
    catalogue_entry = ProblemEntry("untruncated.problems.toy_regression:ToyRegression")
class Nowhere(Environment):
    catalogue_entry = EnvironmentEntry("strangers_own:Missing")
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The module, as somebody's own on the path."""
    (tmp_path / "strangers_own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    import strangers_own

    return strangers_own


@pytest.mark.parametrize("kind", STRANGERS)
def test_each_kind_is_found_by_its_place(kind, own):
    name = f"strangers_own:{kind.capitalize()}"
    entry = lookup(kind, name, kind)
    assert type(entry) is STRANGERS[kind]
    assert entry.load() is getattr(own, kind.capitalize())
    assert lookup("cell", "strangers_own:Alias", "cell") is own.Cell.catalogue_entry


@pytest.mark.parametrize("kind", ["credit", "learner", "plot", "program"])
def test_other_kinds_are_the_suites_alone(kind, own):
    with pytest.raises(CatalogueError, match="unknown value 'strangers_own:Cell'"):
        lookup(kind, "strangers_own:Cell", kind)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("estimator", "Child", "'strangers_own:Estimator', which is something else; give the esti"),
        ("problem", "Elsewhere", "problems.toy_regression:ToyRegression', which is something else"),
        ("environment", "Nowhere", "'strangers_own:Missing': module .* has no attribute 'Missing'"),
        (
            "environment",
            "Cell",
            "no attribute catalogue_entry that is an EnvironmentEntry",
        ),
        ("problem", "COSTS", "has no attribute catalogue_entry that is a ProblemEntry"),
        ("estimator", "Absent", "cannot be imported: module .* has no attribute 'Absent'"),
    ],
)
def test_an_entry_must_be_the_components_own(kind, name, message, own):
    with pytest.raises(CatalogueError, match=f"^{kind}: .*{message}"):
        lookup(kind, f"strangers_own:{name}", kind)


def cell(credits=("bptt",), **costs):
    both = {"parameters": lambda *_: 1, "flops": lambda *_: 1} | costs
    return CellEntry("strangers_own:Cell", {"width": Field(int)}, credits=credits, **both)


ESTIMATOR = {"operations": lambda sizes: 1, "numbers": lambda sizes: 1}


@pytest.mark.parametrize(
    ("kind", "entry", "message"),
    [
        ("cell", cell(flops=None), "must declare flops=lambda fields, inputs, credit: …, the oper"),
        ("cell", cell(credits=()), "must declare credits=(…), the credit assignments that"),
        ("cell", cell(credits=("rtrl",)), "without the method initial_traces, which it must"),
        (
            "environment",
            EnvironmentEntry("strangers_own:Environment", {"size": Field(int)}),
            "must declare observation_size=lambda fields: …, the number of features",
        ),
        (
            "estimator",
            EstimatorEntry("strangers_own:Estimator", {"sigma": Field(float)}),
            "must declare operations=lambda sizes: …, the operations of one gradient",
        ),
        (
            "estimator",
            EstimatorEntry("strangers_own:Estimator", {"sigm": Field(float)}, **ESTIMATOR),
            "is called with sigm, which it does not take: missing a required argument: 'sigma'",
        ),
        (
            "estimator",
            EstimatorEntry(
                "strangers_own:Estimator", {"sigma": Field(float)}, has_reference=True, **ESTIMATOR
            ),
            "is called with sigma, fidelity, which it does not take: got an unexpected keyword",
        ),
        (
            "problem",
            ProblemEntry("strangers_own:Problem", {"horizon": Field(minimum=1)}),
            "must declare the type of its field horizon: int, float, bool or str",
        ),
        (
            "problem",
            ProblemEntry("strangers_own:Problem"),
            "is called with no argument, which it does not take: missing a required argument",
        ),
    ],
)
def test_what_is_not_declared_or_does_not_fit_is_named(kind, entry, message, own, monkeypatch):
    name = kind.capitalize()
    monkeypatch.setattr(getattr(own, name), "catalogue_entry", entry)
    with pytest.raises(CatalogueError, match=re.escape(message)) as raised:
        lookup(kind, f"strangers_own:{name}", "here")
    assert str(raised.value).startswith(f"here: the catalogue_entry of 'strangers_own:{name}' ")


def test_a_method_of_other_arguments_is_named(own, monkeypatch):
    monkeypatch.setattr(own.Environment, "step", lambda self, state, action: None)
    with pytest.raises(CatalogueError, match="whose method step does not take 1 arguments: miss"):
        lookup("environment", "strangers_own:Environment", "environment")


def test_formulas_that_fail_or_give_something_else_are_named(own):
    entry = lookup("environment", "strangers_own:Environment", "environment")
    with pytest.raises(CatalogueError, match=r"observation_size=.* must be at least 1, not 0"):
        entry.declared("observation_size", {"size": 3})
    entry = lookup("estimator", "strangers_own:Estimator", "estimator")
    message = "of 'strangers_own:Estimator': numbers=lambda sizes: .* fails: AttributeError: .*heig"
    with pytest.raises(CatalogueError, match=message):
        entry.declared("numbers", dataclass(type("Sizes", (), {"__annotations__": {}}))())
    assert cell(flops=lambda *_: 2**40).declared("flops", {}, 1, {}) == 2**40
    problem = ProblemEntry("strangers_own:Problem", differentiable=lambda fields: "yes")
    with pytest.raises(CatalogueError, match="must be true or false, not 'yes'"):
        problem.declared("differentiable", {})
