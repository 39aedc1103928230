"""The outer surface: the loss of each point's θ, rows and columns the right way round."""

import jax
import jax.numpy as jnp
import numpy as np

from untruncated.estimators.unrolled import full_unroll_loss
from untruncated.problems.toy_regression import ToyRegression
from untruncated.programs import surfaces
from untruncated.suite.spec import resolve_run


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
