"""Pairs of particles that were left out of estimates are told with a run's metrics."""

from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT
from untruncated.estimators.unrolled.pairs import lost_pairs
from untruncated.experiments.spec import resolve_run
from untruncated.programs import estimator_variance, meta_optimisation

ES = {"particles": 10, "sigma": 0.3, "truncation": 5}


@dataclass(frozen=True)
class Edge:
    """Losses θ², and infinite ones for θ beyond the edge; θ starts at 0.7."""

    edge: float = 1.2
    horizon: int = 20
    unroll_loss: str = "sum"
    differentiable: bool = True

    def initial_theta(self, key):
        return jnp.asarray(0.7, float)

    def initial_state(self, key):
        return jnp.ones(())

    def unroll_step(self, theta, state, t, key):
        return state, jnp.where(theta > self.edge, jnp.inf, theta**2)


def _finished(program, chunks):
    carry = program.init()
    for _ in range(chunks):
        carry = program.advance(carry)
    return carry, program.metrics(carry)


def _meta_optimisation(problem, estimator):
    fields = {
        "program": "meta_optimisation",
        "steps": 40,
        "problem": {"name": "toy_regression", "horizon": 20},
        "estimator": estimator,
        "optimiser": "sgd",
        "step_sizes": [0.001, 0.0],
        "seeds": [0, 1],
    }
    spec = resolve_run(fields)
    program = meta_optimisation.build(spec.fields, [0.001, 0.0], {})
    program = replace(program, problem=problem)
    return program, *_finished(program, program.total_steps // program.chunk_steps)


@pytest.mark.parametrize("name", ["pes", "truncated_es"])
def test_a_run_goes_on_without_its_infinite_particles_and_tells_of_them(name):
    program, carry, metrics = _meta_optimisation(Edge(), {"name": name, **ES})
    assert program.diverged(carry) == []
    lost = metrics["lost_pairs"]
    assert lost.axes == ("step_size", "seed")
    np.testing.assert_array_equal(lost.values, lost_pairs(carry.members.estimator, members=2))
    # Of 200 pairs at 0.7, those lost lie 0.5 / 0.3 deviations out: one in ten.
    assert (np.abs(lost.values[1] - 19) < 15).all()
    # Learning leads away from the edge.
    assert (lost.values[0] < lost.values[1]).all()
    assert (metrics["loss"].values[0] < 0.8 * metrics["loss"].values[1]).all()


@pytest.mark.parametrize("estimator", [{"name": "pes", **ES}, "bptt"], ids=["pes", "bptt"])
def test_where_none_is_lost_there_is_no_such_metric(estimator):
    _, _, metrics = _meta_optimisation(Edge(np.inf), estimator)
    assert "lost_pairs" not in metrics


def test_a_member_that_diverges_has_no_number_of_lost_pairs():
    program, carry, metrics = _meta_optimisation(Edge(-1.0), {"name": "pes", **ES})
    assert len(program.diverged(carry)) == 4 and "lost_pairs" not in metrics


def test_estimates_that_are_measured_tell_of_their_lost_pairs():
    spec = resolve_run(
        {
            "program": "estimator_variance",
            "problem": {"name": "toy_regression", "horizon": 20},
            "estimator": {"name": "pes", **ES, "particles": 200},
            "seeds": [0, 1, 2],
        }
    )
    program = replace(estimator_variance.build(spec.fields, [], {}), problem=Edge())
    assert isinstance(program.truth, UnrolledBPTT)
    carry, metrics = _finished(program, program.total_steps // program.chunk_steps)
    lost = metrics["lost_pairs"]
    assert lost.axes == ("seed",) and program.diverged(carry) == []
    # A pair breaks the edge in one of ten unrolls, four of which are made.
    assert (np.abs(lost.values - 38) < 25).all()
    assert np.isfinite(metrics["relative_squared_error"].values).all()
    program = replace(program, problem=Edge(np.inf))
    _, metrics = _finished(program, program.total_steps // program.chunk_steps)
    assert "lost_pairs" not in metrics
