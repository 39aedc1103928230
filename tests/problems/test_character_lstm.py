"""The character model's sizes, its step by hand, and its texts."""

import jax
import numpy as np
import pytest

from untruncated.problems.character_lstm import CharacterLSTM, Memory

KEY = jax.random.key(0)


def test_there_are_790_parameters_drawn_as_described():
    theta = CharacterLSTM().initial_theta(KEY)
    assert sum(leaf.size for leaf in jax.tree.leaves(theta)) == 790
    assert np.abs(theta.embedding).max() <= 0.1 and np.abs(theta.embedding).max() > 0.09
    for weights in (theta.input_to_gates, theta.hidden_to_gates, theta.read_out):
        assert np.abs(weights).max() <= 2 / 5**0.5
        # a normal number cut at two standard deviations keeps 0.88 of one
        np.testing.assert_allclose(weights.std(), 0.88 / 5**0.5, rtol=0.15)
    for bias in (theta.input_bias, theta.hidden_bias, theta.read_out_bias):
        assert not bias.any()


def test_a_step_is_an_lstm_and_a_cross_entropy():
    with jax.enable_x64(True):
        problem = CharacterLSTM(horizon=10, units=3, embedding=2, vocabulary=40)
        rng = np.random.default_rng(1)
        theta = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), problem.initial_theta(KEY))
        state = Memory(rng.normal(size=3), rng.normal(size=3))
        after, loss = problem.unroll_step(theta, state, 4, KEY)
    x = theta.embedding[problem.characters[4]]
    gates = theta.input_to_gates @ x + theta.input_bias
    gates += theta.hidden_to_gates @ state.hidden + theta.hidden_bias
    forget, write, show = (1 / (1 + np.exp(-gates[:9]))).reshape(3, 3)
    cell = forget * state.cell + write * np.tanh(gates[9:])
    hidden = show * np.tanh(cell)
    logits = theta.read_out @ hidden + theta.read_out_bias
    expected = np.log(np.exp(logits).sum()) - logits[problem.characters[5]]
    np.testing.assert_allclose(after.cell, cell, rtol=1e-12)
    np.testing.assert_allclose(after.hidden, hidden, rtol=1e-12)
    np.testing.assert_allclose(loss, expected, rtol=1e-12)


def test_texts():
    assert CharacterLSTM(10_000).characters.shape == (10_001,)
    np.testing.assert_array_equal(CharacterLSTM(5).characters, [0, 1, 2, 3, 4, 5])  # "the_lo"
    assert not CharacterLSTM(50, "repeated").characters.any()
    random = CharacterLSTM(10_000, "random").characters
    counts = np.bincount(random, minlength=50)
    assert counts.shape == (50,) and counts.min() > 140 and counts.max() < 260
    np.testing.assert_array_equal(random[:101], CharacterLSTM(100, "random").characters)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": "latin"}, "text: unknown value 'latin'"),
        ({"units": 0}, "units: must be at least 1, not 0"),
        ({"horizon": 20_000}, "has 10487 characters, and a horizon of 20000 needs 20001"),
        ({"vocabulary": 30}, "has 35 symbols, which is more than a vocabulary of 30"),
    ],
)
def test_what_cannot_be_predicted_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        _ = CharacterLSTM(**fields).characters
