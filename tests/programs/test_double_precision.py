"""Under float64 nothing is float32 on the way: not by an integer divided, nor by a constant."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import core

from untruncated.catalogue.problems import PROBLEMS
from untruncated.estimators.unrolled.protocol import split_key
from untruncated.experiments.spec import resolve_run
from untruncated.problems.toy_regression import ToyRegression
from untruncated.programs import meta_optimisation, next_observation, online_prediction

UNROLLS = {"particles": 4, "sigma": 0.1, "truncation": 3}
ESTIMATORS = {
    "pes": UNROLLS,
    "pes_analytic": UNROLLS,
    "es_single": UNROLLS,
    "truncated_es": UNROLLS,
    "full_es": {"particles": 4, "sigma": 0.1},
    "bptt": {},
    "truncated_bptt": {"truncation": 3},
    "rtrl": {},
    "uoro": {},
}
# Its draws have 24 bits, and what it shows is 0 or 1, whatever the precision.
COARSE = "environments/trace_conditioning.py"


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _jaxprs(value):
    if isinstance(value, core.ClosedJaxpr):
        yield value.jaxpr
    elif isinstance(value, core.Jaxpr):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _jaxprs(part)


def _equations(jaxpr):
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for inner in _jaxprs(value):
                yield from _equations(inner)


def _single(traced):
    """The operations of a traced function that have float32 results, and where they stand.

    A part of an array has its type: what counts is where the array comes from.
    """
    found = set()
    for equation in _equations(traced.jaxpr.jaxpr):
        types = [getattr(variable.aval, "dtype", None) for variable in equation.outvars]
        frames = equation.source_info.traceback
        if (
            jnp.float32 in types
            and COARSE not in str(frames)
            and equation.primitive.name != "slice"
        ):
            found.add(f"{equation.primitive.name}\n{frames}")
    return found


def _traced(module, kind, fields):
    """The start of a program's carry and its chunks, traced."""
    spec = resolve_run({"precision": "float64", "seeds": [0], "step_sizes": [0.1], **fields})
    program = module.build(spec.fields, [0.1], {})
    start = kind._init.trace(program, jnp.asarray([0]), jnp.asarray([0.1]))
    carry = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), start.out_info)
    return start, module._advance.trace(program, carry)


@pytest.mark.parametrize(
    ("problem", "estimator"),
    [
        *(("toy_regression", name) for name in ESTIMATORS),
        *((name, "pes_analytic") for name in PROBLEMS if name != "toy_regression"),
    ],
)
def test_meta_optimisation(problem, estimator):
    fields = {
        "program": "meta_optimisation",
        "steps": 10,
        "problem": {"name": problem, "horizon": 20},
        "estimator": {"name": estimator, **ESTIMATORS[estimator]},
        "optimiser": "adam",
    }
    start, advance = _traced(meta_optimisation, meta_optimisation.MetaOptimisation, fields)
    assert _single(start) == _single(advance) == set()


def test_online_prediction():
    fields = {
        "program": "online_prediction",
        "steps": 10,
        "environment": "trace_conditioning",
        "learner": "td",
        "cell": {"name": "linear_rtu", "width": 3},
        "credit": "rtrl",
    }
    _, advance = _traced(online_prediction, online_prediction.OnlinePrediction, fields)
    assert _single(advance) == set()


def test_next_observation():
    fields = {
        "program": "next_observation",
        "steps": 10,
        "environment": "three_state_mdp",
        "cell": {"name": "vanilla_rnn", "width": 3},
        "credit": {"name": "truncated_bptt", "truncation": 2},
    }
    _, advance = _traced(next_observation, next_observation.NextObservation, fields)
    assert _single(advance) == set()


def test_a_single_precision_step_would_be_found():
    traced = jax.jit(lambda t: t / 3).trace(jnp.int32(1))
    assert {name.split("\n")[0] for name in _single(traced)} == {"convert_element_type", "div"}


def test_the_schedule_of_toy_regression_has_all_digits():
    """The size of every step, from the state that follows: x' = x - α ∇f(x) at x = (0, 50)."""
    problem, theta = ToyRegression(horizon=99), jnp.array([0.3, -1.0])
    key, state = split_key(jax.random.key(0)).data, jnp.array([0.0, 50.0])
    slope = np.sin(100.0) - 0.25
    for t in (1, 7, 50, 98):
        after, _ = problem.unroll_step(theta, state, jnp.int32(t), key)
        expected = (1 - t / 99) * np.exp(0.3) + t / 99 * np.exp(-1.0)
        np.testing.assert_allclose((50 - after[1]) / slope, expected, rtol=1e-13)
