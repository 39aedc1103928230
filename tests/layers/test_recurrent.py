"""The layers' gradients against independent ones, in float64; and their use as Flax modules."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax.training.train_state import TrainState

from untruncated.cells.block_diagonal import BlockDiagonalParameters
from untruncated.cells.gru import GRUParameters
from untruncated.cells.lru_base import LRUParameters
from untruncated.cells.rtu import RTUParameters
from untruncated.estimators import TruncatedBPTT, bptt_gradient
from untruncated.estimators.online.truncated_bptt import Window
from untruncated.layers import (
    GRU,
    LRU,
    BlockDiagonal,
    LinearRTU,
    NonlinearLRU,
    NonlinearRTU,
    reset_carry,
)

INPUTS, WIDTH = 3, 4
TRACED = {
    "linear relu": (LinearRTU(WIDTH), RTUParameters),
    "linear tanh sigmoid": (
        LinearRTU(WIDTH, activation="tanh", parameterisation="sigmoid"),
        RTUParameters,
    ),
    "nonlinear tanh": (NonlinearRTU(WIDTH, activation="tanh"), RTUParameters),
    "lru": (LRU(WIDTH, outputs=2, skip=True, activation="tanh"), LRUParameters),
    "nonlinear lru": (NonlinearLRU(WIDTH, outputs=2, activation="tanh"), LRUParameters),
    "block diagonal": (BlockDiagonal(WIDTH), BlockDiagonalParameters),
    "halved block diagonal": (BlockDiagonal(WIDTH, halved=True), BlockDiagonalParameters),
}
TRUNCATED = {
    "gru": (GRU(WIDTH, truncation=3), GRUParameters),
    "lru": (LRU(WIDTH, truncation=3), LRUParameters),
    "linear rtu": (LinearRTU(WIDTH, truncation=3), RTUParameters),
}
traced = pytest.mark.parametrize("layer, record", TRACED.values(), ids=TRACED)
truncated = pytest.mark.parametrize("layer, record", TRUNCATED.values(), ids=TRUNCATED)
# Compiles in half the time.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


def normal(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


def draw(model, *args):
    """Parameters with the shapes, but not the law, of the model's own: nothing to compile."""
    shapes = jax.eval_shape(model.init, jax.random.key(0), *args)["params"]
    leaves, treedef = jax.tree.flatten(shapes)
    # Blocks of standard normal numbers would explode: these shrink a state by 0.95 at most.
    scale = 0.4 if isinstance(model, BlockDiagonal) else 1
    return treedef.unflatten([scale * normal(*leaf.shape, seed=i) for i, leaf in enumerate(leaves)])


def start(layer, batch=()):
    """Parameters, and the carry for a `batch` of inputs."""
    carry = layer.initialize_carry(None, (*batch, INPUTS))
    return draw(layer, carry, jnp.zeros((*batch, INPUTS))), carry


def gradient(loss, at, has_aux=False):
    return quick_jit(jax.grad(loss, has_aux=has_aux))(at)


def unroll(layer, params, carry, inputs, done):
    """The outputs of all steps; the carry is reset before the steps that are `done`."""

    def step(carry, xs):
        x, done = xs
        return layer.apply({"params": params}, reset_carry(carry, done), x)

    return jax.lax.scan(step, carry, (inputs, done))[1]


def loss_of(outputs):
    """Weighs every output at every step differently."""
    return jnp.sum(jnp.sin(outputs + jnp.arange(outputs.size).reshape(outputs.shape)))


def full_bptt(layer, params, inputs, done):
    def loss(features):
        return loss_of(jnp.concatenate(features, axis=-1))

    return quick_jit(partial(bptt_gradient, layer.make_cell(INPUTS), loss=loss))(
        params, inputs=inputs, resets=done
    )


def assert_same(ours, reference, tolerance=1e-10):
    assert jax.tree.structure(ours) == jax.tree.structure(reference)
    for mine, theirs in zip(jax.tree.leaves(ours), jax.tree.leaves(reference), strict=True):
        error = np.linalg.norm(mine - theirs)
        assert error <= tolerance * (np.linalg.norm(theirs) + 1e-30)


@traced
def test_gradient_is_that_of_full_bptt_across_a_reset(layer, record, float64):
    params, carry = start(layer)
    inputs = normal(200, INPUTS)
    done = jnp.zeros(200, bool).at[120].set(True)
    ours = gradient(lambda params: loss_of(unroll(layer, params, carry, inputs, done)), params)

    reference = full_bptt(layer, record(**params), inputs, done)
    assert inputs.dtype == jnp.float64
    assert_same(record(**ours), reference)
    assert all(np.linalg.norm(leaf) > 0 for leaf in jax.tree.leaves(ours))


def test_nn_rnn_gives_the_gradient_of_full_bptt(float64):
    layer, record = TRACED["linear relu"]
    inputs, done = normal(2, 200, INPUTS), jnp.zeros(200, bool)
    model = nn.RNN(layer)
    params = draw(model, inputs)
    assert set(params["cell"]) == {"nu", "theta", "w_real", "w_imag"}

    def loss(params):
        return sum(loss_of(outputs) for outputs in model.apply({"params": params}, inputs))

    ours = gradient(loss, params)["cell"]
    reference = jax.vmap(lambda xs: full_bptt(layer, record(**params["cell"]), xs, done))(inputs)
    assert_same(record(**ours), jax.tree.map(lambda leaf: leaf.sum(axis=0), reference))


@truncated
def test_truncated_gradient_is_the_sum_of_the_estimators(layer, record, float64):
    params, carry = start(layer)
    inputs, done = normal(8, INPUTS), jnp.zeros(8, bool)

    def loss(params):
        outputs = unroll(layer, params, carry, inputs, done)
        return loss_of(outputs), outputs

    ours, outputs = gradient(loss, params, has_aux=True)

    cell, params = layer.make_cell(INPUTS), record(**params)
    estimator = TruncatedBPTT(cell, 3)

    def step(window, xs):
        x, slope = xs
        step = estimator.step(params, cell.derive(params), window, x)
        slopes = tuple(jnp.split(slope, np.cumsum(cell.feature_sizes)[:-1]))
        return step.carry, (step.pullback(slopes), jnp.concatenate(step.features))

    slopes = gradient(loss_of, outputs)
    _, (gradients, features) = quick_jit(partial(jax.lax.scan, step))(
        estimator.init(), (inputs, slopes)
    )
    np.testing.assert_allclose(outputs, features, rtol=1e-12)
    assert_same(record(**ours), jax.tree.map(lambda leaf: leaf.sum(axis=0), gradients))


def test_a_window_as_long_as_the_episode_gives_full_bptt(float64):
    layer = GRU(WIDTH, truncation=12)
    params, carry = start(layer)
    inputs = normal(20, INPUTS)
    done = jnp.zeros(20, bool).at[9].set(True)
    ours = gradient(lambda params: loss_of(unroll(layer, params, carry, inputs, done)), params)
    reference = full_bptt(layer, GRUParameters(**params), inputs, done)
    assert_same(GRUParameters(**ours), reference)


@pytest.mark.parametrize("layer", [TRACED["lru"][0], TRUNCATED["gru"][0]], ids=["lru", "gru"])
def test_a_batch_is_its_examples(layer, float64):
    batch = (2, 3)
    params, carry = start(layer, batch)
    inputs = normal(10, *batch, INPUTS)
    done = normal(10, *batch, seed=1) > 1
    assert done.any() and not done.all()

    def value(params, carry, inputs, done):
        outputs = unroll(layer, params, carry, inputs, done)
        return jnp.sum(jnp.sin(outputs)), outputs

    differentiate = quick_jit(jax.grad(value, has_aux=True))
    ours, outputs = differentiate(params, carry, inputs, done)
    assert outputs.shape[:-1] == (10, *batch)
    _, single = start(layer)
    total = jax.tree.map(jnp.zeros_like, params)
    for i, j in np.ndindex(*batch):
        gradient, alone = differentiate(params, single, inputs[:, i, j], done[:, i, j])
        np.testing.assert_allclose(alone, outputs[:, i, j], rtol=1e-12, atol=1e-14)
        total = jax.tree.map(jnp.add, total, gradient)
    assert_same(ours, total)


@pytest.mark.parametrize(
    "layer, record",
    [TRACED["nonlinear tanh"], TRACED["lru"], TRUNCATED["gru"]],
    ids=["nonlinear", "lru", "gru"],
)
def test_the_input_gets_the_gradient_of_its_own_step(layer, record, float64):
    params, carry = start(layer)
    inputs = normal(10, INPUTS)
    done = jnp.zeros(10, bool)
    ours = gradient(lambda inputs: loss_of(unroll(layer, params, carry, inputs, done)), inputs)

    cell, params = layer.make_cell(INPUTS), record(**params)

    def step(state, x):
        derived, before = cell.derive(params), jax.lax.stop_gradient(state)
        state = cell.step(params, derived, before, cell.drive(params, derived, x))
        return state, jnp.concatenate(cell.features(params, state, x))

    def one_step_loss(inputs):
        return loss_of(jax.lax.scan(step, cell.initial_state(), inputs)[1])

    assert_same(ours, gradient(one_step_loss, inputs))


def test_of_two_stacked_layers_the_lower_gets_one_step_gradients(float64):
    """A known approximation: what the lower layer does to the upper one's memory is left out."""
    lower, upper = LinearRTU(WIDTH, activation="tanh"), NonlinearRTU(2, activation="tanh")
    inputs = normal(30, INPUTS)
    model = nn.Sequential([nn.RNN(lower), nn.RNN(upper)])
    params = draw(model, inputs)
    ours = gradient(lambda params: loss_of(model.apply({"params": params}, inputs)), params)

    def reference_loss(params, cut):
        below, above = (RTUParameters(**params[f"layers_{i}"]["cell"]) for i in (0, 1))
        cells = lower.make_cell(INPUTS), upper.make_cell(2 * WIDTH)

        def step(states, x):
            first = cells[0].step(
                below, derived[0], states[0], cells[0].drive(below, derived[0], x)
            )
            y = jnp.concatenate(cells[0].features(below, first, x))
            before = jax.tree.map(
                partial(jnp.where, cut), jax.lax.stop_gradient(states[1]), states[1]
            )
            second = cells[1].step(above, derived[1], before, cells[1].drive(above, derived[1], y))
            return (first, second), jnp.concatenate(cells[1].features(above, second, y))

        derived = cells[0].derive(below), cells[1].derive(above)
        return loss_of(jax.lax.scan(step, tuple(c.initial_state() for c in cells), inputs)[1])

    one_step, full = map(quick_jit(partial(jax.grad(reference_loss), params)), (True, False))
    assert_same(ours["layers_0"], one_step["layers_0"])
    assert_same(ours["layers_1"], full["layers_1"])
    with pytest.raises(AssertionError):
        assert_same(ours["layers_0"], full["layers_0"], tolerance=1e-3)


def test_parameters_are_leaves_with_names_and_the_cells_own_initial_values():
    def shapes(layer):
        return jax.tree.map(jnp.shape, start(layer)[0])

    assert shapes(LinearRTU(4)) == {"nu": (4,), "theta": (4,), "w_real": (3, 4), "w_imag": (3, 4)}
    assert shapes(NonlinearRTU(4)) == shapes(LinearRTU(4))
    lru = {"nu": (4,), "theta": (4,), "gamma_log": (4,), "b_real": (3, 4), "b_imag": (3, 4)}
    assert shapes(LRU(4, outputs=2)) == lru | {"c_real": (4, 2), "c_imag": (4, 2)}
    assert shapes(LRU(4, outputs=2, skip=True))["d"] == (3, 2)
    assert shapes(NonlinearLRU(4, outputs=2, skip=True)) == shapes(LRU(4, outputs=2, skip=True))
    blocks = dict.fromkeys("abcd", (4,)) | {"w1": (3, 4), "w2": (3, 4)}
    assert shapes(BlockDiagonal(4)) == shapes(BlockDiagonal(4, halved=True)) == blocks
    gru = {"w": (3, 12), "u": (4, 12), "bias": (12,), "candidate_bias": (4,)}
    assert shapes(GRU(4, truncation=2)) == gru

    init, args = quick_jit(LRU(4).init), (LRU(4).initialize_carry(None, (3,)), jnp.zeros(3))
    params, others = (init(jax.random.key(seed), *args)["params"] for seed in (0, 1))
    radius = np.exp(-np.exp(params["nu"]))
    np.testing.assert_allclose(np.exp(params["gamma_log"]), np.sqrt(1 - radius**2), rtol=1e-4)
    assert not np.array_equal(params["nu"], others["nu"])


def test_carry_has_the_axes_of_the_batch_first_and_is_zero():
    state, traces = LinearRTU(4).initialize_carry(None, (5, 2, 3))
    assert [leaf.shape for leaf in state] == [(5, 2, 4)] * 2
    assert [leaf.shape for leaf in traces] == [(5, 2, 4)] * 2 + [(5, 2, 3, 4)] * 2
    window = GRU(4, truncation=6).initialize_carry(None, (5, 3))
    assert jax.tree.map(jnp.shape, window) == Window((5, 6, 3), (5, 6, 4), (5,))
    assert not any(np.any(leaf) for leaf in jax.tree.leaves((state, traces, window)))


def test_reset_zeroes_where_done_and_nowhere_else():
    carry = jax.tree.map(jnp.ones_like, LinearRTU(4).initialize_carry(None, (2, 3)))
    for leaf in jax.tree.leaves(reset_carry(carry, jnp.array([1.0, 0.0]))):
        assert not np.any(leaf[0]) and np.all(leaf[1] == 1)
    assert not any(np.any(leaf) for leaf in jax.tree.leaves(reset_carry(carry, True)))
    with pytest.raises(ValueError, match="done has shape"):
        reset_carry(carry, jnp.zeros(3, bool))


def test_constrain_clips_what_its_parameterisation_can_break():
    layer = LinearRTU(4, parameterisation="direct")
    params, _ = start(layer)
    mended = layer.constrain(params | {"nu": jnp.array([-1.0, 0.5, 1.0, 2.0])})
    assert set(mended) == set(params)
    np.testing.assert_allclose(mended["nu"], [1e-8, 0.5, 1, 1])
    for layer in (LRU(4), GRU(4, truncation=2)):
        params, _ = start(layer)
        assert_same(layer.constrain(params), params, tolerance=0)


@pytest.mark.parametrize(
    "layer, message",
    [
        (GRU(4), "GRU needs truncation"),
        (LRU(4, truncation=0), "at least 1"),
        (LinearRTU(4, activation="gelu"), "activation: unknown value 'gelu'"),
        (BlockDiagonal(4, truncation=3, halved=True), "halved traces need exact RTRL"),
        (LinearRTU(4, parameterisation="log"), "parameterisation: unknown value 'log'"),
    ],
)
def test_what_is_wrong_is_named(layer, message):
    with pytest.raises(ValueError, match=message):
        start(layer)


def test_inputs_that_are_not_floats_are_made_so():
    layer = LinearRTU(4)
    params, carry = start(layer)
    _, from_bits = layer.apply({"params": params}, carry, jnp.array([True, False, True]))
    _, from_floats = layer.apply({"params": params}, carry, jnp.array([1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(from_bits, from_floats)


def test_trains_in_a_train_state_vmapped_over_seeds():
    class Model(nn.Module):
        @nn.compact
        def __call__(self, carry, x):
            carry, features = LinearRTU(8)(carry, x)
            return carry, nn.Dense(1)(features)[..., 0]

    model = Model()
    bits = jax.random.rademacher(jax.random.key(0), (1500, 1), jnp.float32)
    targets = jnp.roll(bits[:, 0], 1)

    @quick_jit
    @jax.vmap
    def train(key):
        carry = LinearRTU(8).initialize_carry(None, (1,))
        params = model.init(key, carry, bits[0])["params"]
        state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))

        def step(both, xs):
            (state, carry), (x, target) = both, xs

            def loss(params):
                after, prediction = state.apply_fn({"params": params}, carry, x)
                return (prediction - target) ** 2, after

            (error, carry), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
            return (state.apply_gradients(grads=grads), carry), error

        return jax.lax.scan(step, (state, carry), (bits, targets))[1]

    errors = train(jax.random.split(jax.random.key(1), 2)).reshape(2, 15, 100).mean(axis=2)
    assert np.all(errors[:, -1] < 0.2 * errors[:, 0])
