"""Prediction of the three-state process: what is measured, in chunks of any length."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.agents.next_observation_predictor import NextObservationPredictor
from untruncated.cells.vanilla_rnn import VanillaRNN
from untruncated.estimators.online.truncated_bptt import TruncatedBPTT
from untruncated.experiments.spec import resolve_run
from untruncated.programs import next_observation

STEPS, SEEDS, SIZES = 400, [0, 1, 2], [1e-2, 3e-2]


OTHER_SETTING = {
    "optimiser": "sgd",
    "cell": {"name": "vanilla_rnn", "width": 3, "recurrent_init": "uniform", "bias": True},
}


def _program(steps=STEPS, sizes=SIZES, **fields):
    spec = resolve_run(
        {
            "program": "next_observation",
            "steps": steps,
            "environment": "three_state_mdp",
            "cell": {"name": "vanilla_rnn", "width": 3},
            "credit": {"name": "truncated_bptt", "truncation": 2},
            "step_sizes": sizes,
            "seeds": SEEDS,
            **fields,
        }
    )
    return next_observation.build(spec.fields, spec.fields["step_sizes"], {})


def _run(program):
    carry = program.init()
    for _ in range(program.total_steps // program.chunk_steps):
        carry = program.advance(carry)
    return carry


@pytest.fixture(scope="module", params=[{}, OTHER_SETTING], ids=["default", "other"])
def finished(request):
    program = _program(**request.param)
    carry = _run(program)
    return program, carry, {name: m.values for name, m in program.metrics(carry).items()}


def test_metrics_agree_with_a_plain_loop_over_the_same_stream(finished):
    """One member, step by step, with numpy's eigenvalues and its own count of right answers."""
    program, _, metrics = finished
    size, seed = 1, 2
    key = jax.random.key(SEEDS[seed])
    stream, shown = program.environment.reset(jax.random.fold_in(key, 0))
    learner = program.predictor.init(jax.random.fold_in(key, 1))
    update = jax.jit(program.predictor.step)
    step_environment = jax.jit(program.environment.step)
    losses, right, eigenvalues = [], [], []
    for time in range(STEPS):
        x = shown.observation
        stream, shown = step_environment(stream)
        corrections = next_observation.bias_corrections(jnp.int32(time + 1))
        learner, predicted = update(
            learner, x, shown.observation, jnp.asarray(SIZES[size]), corrections
        )
        following = int(jnp.argmax(shown.observation))
        losses.append(-float(predicted[following]))
        if x[2] > 0:
            right.append((time, int(jnp.argmax(predicted)) == following))
        matrix = np.asarray(learner.params.cell.u)
        eigenvalues.append(np.sum(np.abs(np.linalg.eigvals(matrix).imag) > 0))
    assert metrics["cross_entropy"][size, seed] == pytest.approx(np.mean(losses), rel=1e-4)
    tail = STEPS - STEPS // 10
    late = [answer for time, answer in right if time >= tail]
    assert metrics["accuracy_last_tenth"][size, seed] == pytest.approx(np.mean(late))
    counted = metrics["complex_eigenvalues_last_tenth"][size, seed]
    assert counted == pytest.approx(np.mean(eigenvalues[tail:]))


def test_the_setting_reaches_the_learner():
    cell, gradient = VanillaRNN(3, 3), TruncatedBPTT(VanillaRNN(3, 3), 2)
    assert _program().predictor == NextObservationPredictor(cell, gradient, 3, "adam")
    other = VanillaRNN(3, 3, recurrent_init="uniform", bias=True)
    expected = NextObservationPredictor(other, TruncatedBPTT(other, 2), 3, "sgd")
    assert _program(**OTHER_SETTING).predictor == expected


def test_the_length_of_a_chunk_changes_nothing(finished):
    program, carry, _ = finished
    assert program.chunk_steps == STEPS

    class InParts(next_observation.NextObservation):
        chunk_steps = STEPS // 5

    parts = InParts(**{f.name: getattr(program, f.name) for f in dataclasses.fields(program)})
    again = _run(parts)
    for name, sums in carry.sums.items():
        np.testing.assert_allclose(again.sums[name], sums, rtol=1e-5, atol=1e-5, err_msg=name)
    assert int(again.step) == STEPS


def test_a_learner_whose_loss_is_not_finite_is_recorded():
    program = _program(steps=50, sizes=[1e-2, 1e38])
    carry = _run(program)
    records = program.diverged(carry)
    assert {record["step_size"] for record in records} == {1e38}
    values = program.metrics(carry)["cross_entropy"].values
    assert np.isfinite(values[0]).all()
    assert not np.isfinite(values[1]).any()
