"""Components that are not what their entries declare are refused before anything is computed."""

import sys
from dataclasses import dataclass
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.catalogue import (
    CellEntry,
    EnvironmentEntry,
    EstimatorEntry,
    Field,
    ProblemEntry,
)
from untruncated.cells import GRU
from untruncated.environments import TraceConditioning
from untruncated.environments.three_state_mdp import ThreeStateMDP
from untruncated.estimators import PES, UnrolledBPTT
from untruncated.problems import InfluenceBalancing
from untruncated.programs.building import build_cell, build_environment, build_parts
from untruncated.programs.streams import Stepwise

PLACE = "strangers_parts"
ONE = {"operations": lambda sizes: 1, "numbers": lambda sizes: 1}
HORIZON = {"horizon": Field(int, 6)}


@pytest.fixture
def own(monkeypatch):
    """Puts a class with its entry into a module, and returns its name."""
    module = ModuleType(PLACE)
    monkeypatch.setitem(sys.modules, PLACE, module)

    def put(cls, entry_type, fields=None, **declared):
        name = f"{PLACE}:{cls.__name__}"
        monkeypatch.setattr(
            cls, "catalogue_entry", entry_type(name, fields or {}, **declared), False
        )
        setattr(module, cls.__name__, cls)
        return name

    return put


@dataclass(frozen=True)
class Influence(InfluenceBalancing):
    horizon: int = 6


class Wandering(Influence):
    def unroll_step(self, theta, state, t, key):
        state, loss = super().unroll_step(theta, state, t, key)
        return state[1:], loss


class Averse(Influence):
    def __post_init__(self):
        raise RuntimeError("not today")


class Mutable(Influence):
    __hash__ = None


class Flat(UnrolledBPTT):
    def step(self, problem, theta, state, key):
        gradient, state = super().step(problem, theta, state, key)
        return gradient[None], state


@dataclass(frozen=True)
class Three(PES):
    truncation: int = 3


class Blind(ThreeStateMDP):
    observation_size = 2


class Own(GRU):
    pass


def parts(problem, estimator="bptt", **fields):
    problem = {"name": problem, "horizon": 6}
    given = {"problem": problem, "estimator": {"name": estimator, **fields}, "fidelity": "exact"}
    return build_parts(given, ("problem", "estimator"))


def test_what_fits_is_made(own):
    problem = own(Influence, ProblemEntry, HORIZON)
    estimator = own(Three, EstimatorEntry, {n: Field(int) for n in FIELDS}, **ONE)
    made = parts(problem, estimator, **FIELDS)
    assert made == [Influence(), Three(4, 1, 3)]


FIELDS = {"particles": 4, "sigma": 1, "truncation": 3}


@pytest.mark.parametrize(
    ("cls", "declared", "message"),
    [
        (Influence, {"horizon": lambda fields: 7}, "has horizon 6, where its .* horizon 7: mend"),
        (Influence, {"differentiable": lambda fields: False}, "has differentiable True, where"),
        (Wandering, {}, r"makes a state of float32\[22\] of one of float32\[23\]"),
        (Averse, {}, "cannot be made of {'horizon': 6}.*: RuntimeError: not today"),
        (Mutable, {}, "has no hash, as a frozen dataclass has: TypeError: unhashable type"),
    ],
)
def test_a_problem_that_is_something_else(cls, declared, message, own):
    name = own(cls, ProblemEntry, HORIZON, **declared)
    with pytest.raises(ValueError, match=f"'{name}' .*{message}|'{name}' {message}"):
        parts(name)


@pytest.mark.parametrize(
    ("cls", "fields", "declared", "message"),
    [
        (Flat, {}, {"whole": True}, r"is of float32\[1\], where θ is of float32\[\]"),
        (Flat, {}, {}, "takes the inner problem 6 steps ahead, where its catalogue_entry says 1"),
        (
            Three,
            {"particles": 4, "sigma": 1},
            {},
            "3 steps ahead, where its .* says 1",
        ),
    ],
)
def test_an_estimator_that_is_something_else(cls, fields, declared, message, own):
    problem = own(Influence, ProblemEntry, HORIZON)
    name = own(cls, EstimatorEntry, {n: Field(int) for n in fields}, **ONE, **declared)
    with pytest.raises(ValueError, match=message):
        parts(problem, name, **fields)


def test_an_environment_of_another_size(own):
    name = own(Blind, EnvironmentEntry, observation_size=lambda fields: 3)
    with pytest.raises(ValueError, match=r"has observation_size 2, where its .* declares"):
        build_environment({"environment": {"name": name}})
    name = own(Blind, EnvironmentEntry, observation_size=lambda fields: 2)
    with pytest.raises(ValueError, match=r"observations of shape \(3,\), where its obs.* is 2"):
        build_environment({"environment": {"name": name}})


def test_a_cell_with_other_parameters(own):
    name = own(
        Own,
        CellEntry,
        {"width": Field(int)},
        credits=("dense_rtrl",),
        parameters=lambda fields, inputs: 3 * fields["width"],
        flops=lambda fields, inputs, credit: 1,
    )
    fields = {"cell": {"name": name, "width": 2}, "credit": {"name": "dense_rtrl"}}
    with pytest.raises(ValueError, match=r"has parameters 92, where its .* declares parameters 6"):
        build_cell(fields, TraceConditioning())


def test_a_stream_made_of_single_steps_is_the_stream():
    environment, key = TraceConditioning(distractors=2), jax.random.key(3)
    _, expected = environment.unroll(environment.start(key), 50, 7)
    stepwise = Stepwise(environment)
    state, first = stepwise.unroll(stepwise.start(key), 20, 7)
    _, second = stepwise.unroll(state, 30, 7)
    for found, steps in ((first, slice(0, 27)), (second, slice(20, 57))):
        np.testing.assert_array_equal(found.observation, expected.observation[steps])
        np.testing.assert_array_equal(found.reward, expected.reward[steps])
    assert jnp.sum(expected.reward) > 0
