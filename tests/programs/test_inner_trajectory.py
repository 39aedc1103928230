"""Inner problems from the three schedules of Figure 10, at the values that are known of them."""

import jax
import numpy as np
import pytest

from untruncated.experiments.spec import resolve_run
from untruncated.programs import inner_trajectory


def _program(problem):
    spec = resolve_run({"program": "inner_trajectory", "problem": problem, "seeds": [0]})
    return inner_trajectory.build(spec.fields, [], {})


@pytest.mark.parametrize(
    ("theta", "loss", "end"),
    [
        ((-4.0, -4.0), 2487.8, (0.79, 1.42)),
        ((0.15, -1.0), 2423.2, (0.0, 3.27)),
        ((2.8, -4.1), 559.0, (-0.12, 100.4)),
    ],
)
def test_the_state_goes_where_gradient_descent_goes(theta, loss, end):
    with jax.enable_x64(True):
        program = _program(
            {"name": "toy_regression", "start_first": theta[0], "start_last": theta[1]}
        )
        carry = program.init()
        for _ in range(program.total_steps // program.chunk_steps):
            carry = program.advance(carry)
        metrics = program.metrics(carry)
    np.testing.assert_allclose(metrics["theta"].values, theta)
    np.testing.assert_allclose(metrics["loss"].values, loss, rtol=1e-3)
    states = metrics["state"].values
    assert states.shape == (101, 2) and program.axes["inner_step"][-1] == 100
    np.testing.assert_array_equal(states[0], [1, 1])
    np.testing.assert_allclose(states[-1], end, atol=0.05)
    assert program.diverged(carry) == []


def test_data_of_a_state_is_not_recorded():
    program = _program(
        {"name": "return_prediction", "width": 2, "distractors": 0, "horizon": 10, "recorded": 90}
    )
    carry = program.init()
    assert int(carry.state.start) > 0
    assert program.axes["coordinate"] == [0, 1, 2, 3] and carry.states.shape == (11, 4)
    assert not np.asarray(carry.states).any()  # an empty cell, wherever its window begins


def test_a_state_that_is_not_finite_is_told():
    program = _program({"name": "toy_regression", "horizon": 10, "start_first": 1000})
    carry = program.advance(program.init())
    (record,) = program.diverged(carry)
    assert record["reason"] == "the state is not finite"


def test_a_problem_that_never_ends_is_refused():
    with pytest.raises(ValueError, match="would never end"):
        _program("influence_balancing")
