"""Dense RTRL, which carries the whole Jacobian, against the traces and against full BPTT."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.block_diagonal import BlockDiagonal
from untruncated.cells.gru import GRU
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_lru import NonlinearLRU
from untruncated.cells.nonlinear_rtu import NonlinearRTU
from untruncated.cells.vanilla_rnn import VanillaRNN
from untruncated.estimators.online.bptt import bptt_gradient, sequence_features
from untruncated.estimators.online.dense_rtrl import DenseRTRL
from untruncated.estimators.online.traces import RTRL

STEPS, INPUTS, WIDTH = 60, 2, 3
TRACE_CELLS = [
    LinearRTU(INPUTS, WIDTH),
    NonlinearRTU(INPUTS, WIDTH, "tanh", "sigmoid"),
    LRU(INPUTS, WIDTH),
    LRU(INPUTS, WIDTH, outputs=2, skip=True, activation="relu", parameterisation="exp"),
    NonlinearLRU(INPUTS, WIDTH, activation="tanh"),
    BlockDiagonal(INPUTS, WIDTH),
]


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _stream(cell):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(STEPS, cell.inputs))
    weights = tuple(rng.normal(size=(STEPS, size)) for size in cell.feature_sizes)
    return inputs, weights


@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _run(estimators, params, inputs, weights):
    """Each estimator's features and gradient of weights · features, with each step's parameters."""

    def step(carries, xs):
        params, x, weight = xs
        derived = estimators[0].cell.derive(params)
        made = [e.step(params, derived, c, x) for e, c in zip(estimators, carries, strict=True)]
        return [m.carry for m in made], [(m.features, m.pullback(weight)) for m in made]

    return jax.lax.scan(step, [e.init() for e in estimators], (params, inputs, weights))[1]


def _at_every_step(params):
    return jax.tree.map(lambda leaf: np.broadcast_to(leaf, (STEPS, *leaf.shape)), params)


def _assert_leaves_agree(left, right):
    """Every leaf alone, relative to its own largest entry, which is not zero."""
    for (path, a), b in zip(
        jax.tree_util.tree_leaves_with_path(left), jax.tree.leaves(right), strict=True
    ):
        name, scale = jax.tree_util.keystr(path), np.abs(b).max()
        assert scale > 0, name
        np.testing.assert_array_less(np.abs(a - b).max() / scale, 1e-10, err_msg=name)


@pytest.mark.parametrize("cell", TRACE_CELLS, ids=str)
def test_dense_jacobian_and_traces_give_the_same_gradients_at_every_step(cell):
    params = _at_every_step(cell.init(jax.random.key(2)))
    dense, traced = _run((DenseRTRL(cell), RTRL(cell)), params, *_stream(cell))
    _assert_leaves_agree(dense, traced)


@pytest.mark.parametrize("cell", TRACE_CELLS, ids=str)
def test_dense_jacobian_and_traces_agree_while_parameters_change(cell):
    rng = np.random.default_rng(1)
    params = jax.tree.map(
        lambda leaf: leaf + 0.05 * rng.normal(size=leaf.shape),
        _at_every_step(cell.init(jax.random.key(2))),
    )
    dense, traced = _run((DenseRTRL(cell), RTRL(cell)), params, *_stream(cell))
    # ν and θ are left out: the traces use today's chain rule, the dense Jacobian each step's own.
    # So is γ where it has no trace: its gradient is made of today's weights.
    names = {"nu", "theta"} | ({"gamma_log"} if isinstance(cell, NonlinearLRU) else set())
    left_out = dict.fromkeys(names & set(params._fields))
    _assert_leaves_agree(*(e[1]._replace(**left_out) for e in (dense, traced)))
    for name in left_out:
        assert np.abs(getattr(dense[1], name) - getattr(traced[1], name)).max() > 1e-6


@pytest.mark.parametrize(
    "cell",
    [GRU(INPUTS, WIDTH), VanillaRNN(INPUTS, WIDTH), VanillaRNN(INPUTS, WIDTH, bias=True)],
    ids=str,
)
def test_dense_rtrl_equals_full_bptt_where_units_mix(cell):
    rng = np.random.default_rng(3)
    # The biases start at zero; there, a bias in a wrong place can go unseen.
    params = jax.tree.map(
        lambda leaf: leaf + 0.3 * rng.normal(size=leaf.shape), cell.init(jax.random.key(3))
    )
    inputs, weights = _stream(cell)
    ((features, gradients),) = _run((DenseRTRL(cell),), _at_every_step(params), inputs, weights)
    resets = np.zeros(STEPS, bool)

    @jax.jit
    def reference(params, weights):
        def loss(features):
            return jnp.sum(weights * features[0])

        return (
            sequence_features(cell, params, inputs, resets),
            bptt_gradient(cell, params, inputs, resets, loss),
        )

    expected, total = reference(params, weights[0])
    np.testing.assert_allclose(features[0], expected[0], rtol=1e-12)
    _assert_leaves_agree(jax.tree.map(lambda leaf: leaf.sum(axis=0), gradients), total)
    _, last = reference(params, weights[0] * (np.arange(STEPS) == STEPS - 1)[:, None])
    _assert_leaves_agree(jax.tree.map(lambda leaf: leaf[-1], gradients), last)


def test_dense_carry_starts_at_zero_and_holds_the_whole_jacobian():
    cell = GRU(INPUTS, WIDTH)
    carry = DenseRTRL(cell).init()
    assert carry.jacobian.shape == (WIDTH, 3 * WIDTH * (INPUTS + WIDTH) + 4 * WIDTH)
    assert not carry.jacobian.any()
    params, x = cell.init(jax.random.key(0)), np.ones(INPUTS)

    def end(params):
        return cell.step(params, (), cell.initial_state(), cell.drive(params, (), x))

    jacobian = jax.jit(lambda: DenseRTRL(cell).step(params, (), carry, x).carry.jacobian)()
    rows = jax.jit(jax.jacrev(end))(params)
    expected = np.concatenate([leaf.reshape(WIDTH, -1) for leaf in rows], axis=1)
    np.testing.assert_allclose(jacobian, expected, rtol=1e-12, atol=1e-14)
