"""One update of the classifier against formulas written out, for each optimiser."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.agents.adam import bias_corrections
from untruncated.agents.next_observation_predictor import NextObservationPredictor
from untruncated.agents.optimisers import OPTIMISERS
from untruncated.catalogue.programs import PROGRAMS
from untruncated.cells.vanilla_rnn import VanillaRNN
from untruncated.estimators.online.truncated_bptt import TruncatedBPTT

CLASSES, STEP_SIZE = 3, 0.1
INPUTS = np.eye(CLASSES)[[0, 2]]
FOLLOWING = np.eye(CLASSES)[[2, 0]]


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _predictor(optimiser):
    cell = VanillaRNN(CLASSES, 3, bias=True)
    return NextObservationPredictor(cell, TruncatedBPTT(cell, 2), CLASSES, optimiser)


def _loss(params, inputs, following):
    """-log softmax of what is predicted after the inputs, from a state of zeros."""
    state = jnp.zeros(3)
    for x in inputs:
        state = jnp.tanh(x @ params.cell.w + state @ params.cell.u + params.cell.b)
    logits = state @ params.kernel + params.bias
    return jax.scipy.special.logsumexp(logits) - logits @ following


def _updates(optimiser):
    """The state before and after each of the updates."""
    predictor = _predictor(optimiser)
    states = [predictor.init(jax.random.key(0))]
    for time, (x, following) in enumerate(zip(INPUTS, FOLLOWING, strict=True)):
        corrections = bias_corrections(jnp.int32(time + 1))
        after, _ = predictor.step(states[-1], x, following, STEP_SIZE, corrections)
        states.append(after)
    return states


def _agree(left, right):
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_a_step_of_sgd_is_minus_the_step_size_times_the_gradient():
    states = _updates("sgd")
    for time, (before, after) in enumerate(itertools.pairwise(states)):
        seen = INPUTS[: time + 1]
        gradient = jax.grad(_loss)(before.params, seen, FOLLOWING[time])
        assert np.abs(gradient.cell.b).min() > 1e-3
        assert (np.abs(gradient.cell.u).max() > 1e-3) == (time > 0)  # the first state is zero
        expected = jax.tree.map(lambda p, g: p - STEP_SIZE * g, before.params, gradient)
        _agree(after.params, expected)
        assert not jax.tree.leaves(after.moments)


def test_the_first_step_of_adam_is_the_step_size_in_the_gradients_direction():
    before, after, _ = _updates("adam")
    gradient = jax.grad(_loss)(before.params, INPUTS[:1], FOLLOWING[0])
    expected = jax.tree.map(
        lambda p, g: p - STEP_SIZE * g / (jnp.abs(g) + 1e-8), before.params, gradient
    )
    _agree(after.params, expected)


def test_the_catalogue_names_every_optimiser():
    field = PROGRAMS["next_observation"].fields["optimiser"]
    assert set(field.choices) == set(OPTIMISERS)
    assert field.default == NextObservationPredictor(None, None, 3).optimiser
