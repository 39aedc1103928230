"""The formulas of operations against the functions that are run, counted in their jaxprs."""

import jax
import jax.numpy as jnp
import pytest
from jaxpr_operations import operations

from untruncated.catalogue.cells import CELLS
from untruncated.estimators.online.dense_rtrl import DenseRTRL
from untruncated.estimators.online.traces import RTRL
from untruncated.experiments.widths import component, flops

CELLS_COUNTED = [
    {"name": "linear_rtu"},
    {"name": "nonlinear_rtu"},
    {"name": "lru"},
    {"name": "lru", "outputs": 2},
    {"name": "lru", "skip": True},
    {"name": "lru", "activation": "relu"},
    {"name": "nonlinear_lru"},
    {"name": "block_diagonal"},
    {"name": "block_diagonal", "halved": True},
    {"name": "gru"},
    {"name": "vanilla_rnn"},
    {"name": "vanilla_rnn", "bias": True},
]
SIZES = [(6, 5), (48, 12), (64, 64)]
ESTIMATORS = {"rtrl": RTRL, "dense_rtrl": DenseRTRL}
CASES = [
    (cell, credit)
    for cell in CELLS_COUNTED
    for credit in CELLS[cell["name"]].credits
    if credit in ESTIMATORS and not (credit == "dense_rtrl" and cell.get("halved"))
]
WITH_WINDOWS = [cell for cell in CELLS_COUNTED if not cell.get("halved")]


def _made(cell, width, inputs):
    cell = component("cell", {**cell, "width": width}, "cell")
    fields = {key: value for key, value in cell.items() if key != "name"}
    made = CELLS[cell["name"]].load()(inputs=inputs, **fields)
    return cell, made, jax.eval_shape(made.init, jax.random.key(0))


def test_the_count_by_hand():
    x, w, h = jnp.ones(3), jnp.ones((3, 5)), jnp.ones(5)
    assert operations(lambda x: jnp.tanh(x @ w + h), x) == 30 + 5 + 5
    assert operations(lambda x: x[:, None] * h, x) == 15
    assert operations(lambda x: jnp.outer(x, h), x) == 15
    assert operations(lambda x: jnp.sum(jnp.exp(x)), x) == 6
    assert operations(lambda x: jnp.broadcast_to(x, (4, 3)).reshape(12), x) == 0
    assert operations(lambda x: jax.lax.scan(lambda s, _: (s * x, None), x, None, 7)[0], x) == 21


@pytest.mark.parametrize(("width", "inputs"), SIZES)
@pytest.mark.parametrize(("cell", "credit"), CASES, ids=str)
def test_an_online_step_has_as_many_as_its_formula(cell, credit, width, inputs):
    if credit == "dense_rtrl":
        width, inputs = min(width, 8), min(inputs, 12)
    cell, made, params = _made(cell, width, inputs)
    estimator = ESTIMATORS[credit](made)

    def step(params, derived, carry, x, cotangents):
        after = estimator.step(params, derived, carry, x)
        return after.carry, after.features, after.pullback(cotangents)

    # What is derived of the parameters is part of the carry.
    counted = operations(
        step,
        params,
        jax.eval_shape(made.derive, params),
        estimator.init(),
        jnp.zeros(inputs),
        tuple(jnp.zeros(size) for size in made.feature_sizes),
    )
    formula = flops(cell, component("credit", credit, "credit"), inputs)
    assert abs(counted / formula - 1) < 0.15


@pytest.mark.parametrize(("width", "inputs"), SIZES)
@pytest.mark.parametrize("cell", WITH_WINDOWS, ids=str)
def test_a_window_costs_three_forward_steps_for_each_of_its_inputs(cell, width, inputs):
    cell, made, params = _made(cell, width, inputs)

    def forward(params, derived, state, x):
        return made.step(params, derived, state, made.drive(params, derived, x))

    derived, state = jax.eval_shape(made.derive, params), made.initial_state()
    counted = operations(forward, params, derived, state, jnp.zeros(inputs))
    ten, twenty = (
        flops(cell, {"name": "truncated_bptt", "truncation": truncation}, inputs)
        for truncation in (10, 20)
    )
    assert abs(30 * counted / (twenty - ten) - 1) < 0.15
    # What is left is done once in a window: eigenvalues and read-out.
    once = 2 * ten - twenty
    assert abs((30 * counted + once) / ten - 1) < 0.15
