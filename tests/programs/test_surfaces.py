"""Surfaces: the loss of each point, rows and columns the right way round."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.estimators.unrolled.protocol import full_unroll_loss
from untruncated.experiments.spec import resolve_run
from untruncated.problems.toy_regression import ToyRegression, inner_function
from untruncated.programs import surfaces


def test_every_point_is_the_loss_of_its_parameters():
    spec = resolve_run(
        {
            "program": "outer_surface",
            "problem": {"name": "toy_regression", "horizon": 10},
            "steps": 3,
            "low": -4,
            "high": 1,
            "seeds": [0],
        }
    )
    program = surfaces.build_outer(spec.fields, [], {})
    carry = program.init()
    for _ in range(program.total_steps):
        carry = program.advance(carry)
    metric = program.metrics(carry)["loss"]
    assert metric.axes == ("theta_1", "theta_0")
    assert program.axes["theta_0"] == [-4, -1.5, 1]
    for row, last in enumerate(program.axes["theta_1"]):
        for column, first in enumerate(program.axes["theta_0"]):
            theta = jnp.array([first, last])
            loss = full_unroll_loss(ToyRegression(horizon=10), theta, jax.random.key(0))
            np.testing.assert_allclose(metric.values[row, column], loss, rtol=1e-5)


INNER = {
    "program": "inner_surface",
    "problem": "toy_regression",
    "steps": 3,
    "low_0": -1,
    "high_0": 1,
    "low_1": 1,
    "high_1": 100,
    "scale_1": "log",
    "seeds": [0],
}


def test_every_point_of_the_inner_surface_is_the_loss_of_a_state():
    program = surfaces.build_inner(resolve_run(INNER).fields, [], {})
    carry = program.init()
    for _ in range(program.total_steps):
        carry = program.advance(carry)
    metric = program.metrics(carry)["loss"]
    assert metric.axes == ("state_1", "state_0")
    np.testing.assert_allclose(program.axes["state_1"], [1, 10, 100])
    for row, second in enumerate(program.axes["state_1"]):
        for column, first in enumerate(program.axes["state_0"]):
            loss = inner_function(jnp.array([first, second]))
            np.testing.assert_allclose(metric.values[row, column], loss, rtol=1e-5)


def test_a_problem_without_an_inner_surface_is_refused():
    with pytest.raises(ValueError, match="needs a loss of a state of two numbers, which problem"):
        resolve_run({**INNER, "problem": "influence_balancing"})


@pytest.mark.parametrize("ends", [{"low_1": 0}, {"low_1": -2, "high_1": -1}, {"high_1": 0}])
def test_a_logarithmic_axis_that_does_not_lie_above_0_is_refused(ends):
    spec = resolve_run({**INNER, **ends})
    with pytest.raises(ValueError, match="a logarithmic axis goes over numbers above 0: got low_1"):
        surfaces.build_inner(spec.fields, [], {})
