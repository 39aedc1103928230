"""Parameters, inputs and carry of different floating-point types, alone and inside `nn.RNN`."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.linear_rtu import LinearRTU as LinearRTUCell
from untruncated.cells.nonlinear_lru import NonlinearLRU as NonlinearLRUCell
from untruncated.estimators import RTRL, DenseRTRL, TruncatedBPTT
from untruncated.layers import GRU, LRU, BlockDiagonal, LinearRTU, NonlinearLRU, NonlinearRTU

INPUTS, WIDTH, STEPS = 3, 4, 6
LAYERS = [
    LinearRTU(WIDTH),
    NonlinearRTU(WIDTH, activation="tanh", parameterisation="exp"),
    LRU(WIDTH, skip=True, parameterisation="sigmoid"),
    NonlinearLRU(WIDTH, parameterisation="direct"),
    BlockDiagonal(WIDTH, halved=True),
    GRU(WIDTH, truncation=3),
]
# Of a layer, the types of parameters and inputs, and whether float64 is JAX's default.
CASES = [
    *((layer, "bfloat16", "bfloat16", False) for layer in LAYERS),
    *((layer, "float32", "float32", True) for layer in (LAYERS[0], LAYERS[2])),
    (LAYERS[0], "bfloat16", "float32", False),
    (LAYERS[0], "float32", "float16", False),
    (LAYERS[0], "float64", "float32", True),
]
# Compiling takes nearly all the time.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def _cast(tree, dtype):
    return jax.tree.map(lambda leaf: leaf.astype(dtype), tree)


def _types(tree):
    return {leaf.dtype.name for leaf in jax.tree.leaves(tree)}


def _start(model, *args):
    """Parameters of the model's own shapes, small enough to be stable."""
    shapes = jax.eval_shape(model.init, jax.random.key(0), *args)
    leaves, treedef = jax.tree.flatten(shapes)
    rng = np.random.default_rng(0)
    return treedef.unflatten([0.5 * abs(rng.normal(size=leaf.shape)) for leaf in leaves])


def _two_steps(layer, params, carry, inputs):
    """A loss of the second output, differentiated as any training loop does; and all outputs."""

    def loss(params, x):
        after, first = layer.apply(params, carry, inputs[0])
        after, second = layer.apply(params, after, x)
        return jnp.sum(jnp.sin(second.astype(float))), (after, first, second)

    return quick_jit(jax.grad(loss, (0, 1), has_aux=True))(params, inputs[1])


@pytest.mark.parametrize(("layer", "of_params", "of_inputs", "x64"), CASES)
def test_gradients_have_the_type_of_what_they_belong_to(layer, of_params, of_inputs, x64):
    with jax.enable_x64(x64):
        default = jnp.result_type(float).name
        carry = layer.initialize_carry(None, (INPUTS,))
        inputs = jax.random.normal(jax.random.key(0), (2, INPUTS)).astype(of_inputs)
        params = _cast(_start(layer, carry, inputs[0]), of_params)
        (dparams, dx), (after, *outputs) = _two_steps(layer, params, carry, inputs)
        assert _types(dparams) == {of_params} and dx.dtype == of_inputs
        assert _types(outputs) == {default}
        assert [leaf.dtype for leaf in jax.tree.leaves(after)] == [
            leaf.dtype for leaf in jax.tree.leaves(carry)
        ]
        # The same numbers as if all were of the carry's type, and rounded once.
        wide = _two_steps(layer, _cast(params, default), carry, inputs.astype(default))
        np.testing.assert_array_equal(dx, wide[0][1].astype(of_inputs))
        for made, expected in zip(
            jax.tree.leaves(dparams), jax.tree.leaves(wide[0][0]), strict=True
        ):
            assert np.abs(expected).max() > 0
            np.testing.assert_array_equal(made, expected.astype(of_params))


@pytest.mark.parametrize(
    ("layer", "dtype", "x64"),
    [
        (LAYERS[0], "bfloat16", False),
        (LAYERS[0], "float32", True),
        (LAYERS[-1], "bfloat16", False),
    ],
)
def test_inside_nn_rnn(layer, dtype, x64):
    with jax.enable_x64(x64):
        model = nn.RNN(layer)
        inputs = jax.random.normal(jax.random.key(0), (2, STEPS, INPUTS)).astype(dtype)
        params = _cast(_start(model, inputs), dtype)

        def loss(params):
            return jnp.sum(jnp.sin(model.apply(params, inputs).astype(float)))

        made = quick_jit(jax.grad(loss))(params)
        wide = quick_jit(jax.grad(loss))(_cast(params, jnp.result_type(float)))
        assert _types(made) == {dtype}
        for narrow, expected in zip(jax.tree.leaves(made), jax.tree.leaves(wide), strict=True):
            # `nn.RNN` adds the steps' gradients in the parameters' type.
            error = np.abs(narrow.astype(float) - expected).max()
            assert error <= 2 * STEPS * jnp.finfo(dtype).eps * np.abs(expected).max()


def test_the_carrys_type_is_the_users_to_choose():
    layer = LinearRTU(WIDTH)
    carry = _cast(layer.initialize_carry(None, (INPUTS,)), jnp.bfloat16)
    inputs = jnp.ones((2, INPUTS))
    params = _cast(_start(layer, carry, inputs[0]), jnp.float32)
    (dparams, _), (after, *outputs) = _two_steps(layer, params, carry, inputs)
    assert _types(dparams) == {"float32"} and _types((after, outputs)) == {"bfloat16"}


@pytest.mark.parametrize(
    "cell",
    [LinearRTUCell(INPUTS, WIDTH), NonlinearLRUCell(INPUTS, WIDTH)],
    ids=lambda cell: type(cell).__name__,
)
@pytest.mark.parametrize("make", [RTRL, DenseRTRL, partial(TruncatedBPTT, truncation=2)])
@pytest.mark.parametrize(("dtype", "x64"), [("bfloat16", False), ("float32", True)])
def test_estimators_give_gradients_of_the_parameters_type(cell, make, dtype, x64):
    with jax.enable_x64(x64):
        estimator = make(cell)
        params = _cast(cell.init(jax.random.key(0)), dtype)
        carry, x = estimator.init(), jnp.ones(INPUTS, dtype)

        @quick_jit
        def gradient(params, carry):
            step = estimator.step(params, cell.derive(params), carry, x)
            return step.pullback(jax.tree.map(jnp.ones_like, step.features)), step.carry

        made, after = gradient(params, carry)
        wide, _ = gradient(_cast(params, jnp.result_type(float)), carry)
    assert _types(made) == {dtype}
    assert jax.tree.map(jnp.result_type, after) == jax.tree.map(jnp.result_type, carry)
    for narrow, expected in zip(jax.tree.leaves(made), jax.tree.leaves(wide), strict=True):
        tolerance = 20 * float(jnp.finfo(dtype).eps)
        np.testing.assert_allclose(
            np.asarray(narrow, float), expected, atol=tolerance * max(np.abs(expected).max(), 1e-3)
        )
