"""Under jax's checks for NaN and for keys used twice: layers, estimators, and runs of figures."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.errors import KeyReuseError

from untruncated.catalogue import lookup
from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT, UnrolledTruncatedBPTT
from untruncated.estimators.unrolled.es_single import ESSingle
from untruncated.estimators.unrolled.evolution_strategies import FullES, TruncatedES
from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.pes_analytic import PESAnalytic
from untruncated.estimators.unrolled.rtrl import UnrolledRTRL
from untruncated.estimators.unrolled.staggered import Staggered
from untruncated.estimators.unrolled.uoro import UORO
from untruncated.experiments.spec import resolve_run
from untruncated.layers import GRU, LRU, BlockDiagonal, LinearRTU, NonlinearLRU, NonlinearRTU
from untruncated.problems.coupled_ring import CoupledRing

UNROLLS = {"particles": 4, "sigma": 0.1, "truncation": 3}
QUICK = {"xla_backend_optimization_level": 0}


@pytest.fixture(params=["keys", "nans"])
def checks(request):
    """One of jax's checks at work."""
    with jax.debug_key_reuse(request.param == "keys"), jax.debug_nans(request.param == "nans"):
        yield request.param


def test_the_checks_find_what_they_are_for():
    with jax.debug_key_reuse(True), pytest.raises(KeyReuseError):
        jax.jit(lambda key: jax.random.normal(key) + jax.random.normal(key))(jax.random.key(0))
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        jax.jit(jnp.log)(-jnp.ones(()))


@pytest.mark.parametrize(
    "estimator",
    [
        FullES(4, 0.1),
        TruncatedES(**UNROLLS),
        PES(**UNROLLS),
        ESSingle(**UNROLLS),
        PESAnalytic(**UNROLLS),
        UnrolledBPTT(),
        UnrolledTruncatedBPTT(3),
        UnrolledRTRL(),
        UORO(),
        Staggered(PES(**UNROLLS), 2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators(checks, estimator):
    problem = CoupledRing(4, 4, 7)
    theta_key, start_key, key = jax.random.split(jax.random.key(0), 3)
    theta = problem.initial_theta(theta_key)
    state = estimator.init(problem, theta, start_key)
    step = jax.jit(lambda *args: estimator.step(problem, *args), compiler_options=QUICK)
    for call_key in jax.random.split(key, 3):
        gradient, state = step(theta, state, call_key)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    "layer",
    [
        LinearRTU(4),
        NonlinearRTU(4),
        LRU(4),
        NonlinearLRU(4),
        BlockDiagonal(4),
        LinearRTU(4, truncation=3),
        GRU(4, truncation=3),
    ],
    ids=lambda layer: f"{type(layer).__name__} {getattr(layer, 'truncation', None) or 'traces'}",
)
def test_layers(checks, layer):
    inputs = jnp.ones((6, 3))
    start = layer.initialize_carry(None, inputs[0].shape)
    params = layer.init(jax.random.key(1), start, inputs[0])

    def loss(params):
        model = nn.RNN(layer)
        return (model.apply({"params": {"cell": params["params"]}}, inputs[None]) ** 2).sum()

    gradient = jax.jit(jax.grad(loss), compiler_options=QUICK)(params)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


STREAM = {"environment": {"name": "trace_conditioning", "interval": 10}}
RTU = {"cell": {"name": "linear_rtu", "width": 3}, "credit": "rtrl"}
ONLINE = {"program": "online_prediction", "steps": 40, "step_sizes": [1e-3], **STREAM}
TOY = {"name": "toy_regression", "horizon": 20}
PES_RUN = {"estimator": {"name": "pes", **UNROLLS}}
META = {
    "program": "meta_optimisation",
    "steps": 20,
    "problem": TOY,
    "optimiser": "adam",
    "step_sizes": [0.01],
    **PES_RUN,
}
LAW = {"program": "variance_law", "problem": {"name": "linear_losses", "horizon": 4}, "steps": 20}
RUNS = {
    "rtu_figure2": {**ONLINE, "learner": "td", **RTU},
    "bridge_figure1": {**ONLINE, "learner": {"name": "delayed_return", "delay": 300}, **RTU},
    "rtu_figure8": {
        "program": "next_observation",
        "steps": 400,
        "environment": "three_state_mdp",
        "cell": {"name": "vanilla_rnn", "width": 3},
        "credit": {"name": "truncated_bptt", "truncation": 2},
        "step_sizes": [1e-2],
    },
    "pes_figure3": {
        "program": "estimator_variance",
        "problem": {"name": "character_lstm", "horizon": 12, "units": 2, "embedding": 2},
        **PES_RUN,
    },
    "pes_figure6": {"program": "outer_surface", "problem": TOY, "steps": 3, "low": -4, "high": 1},
    "pes_figure10": {"program": "inner_trajectory", "problem": TOY},
    "pes_table1": {
        "program": "estimator_costs",
        "steps": 1,
        "repeats": 2,
        "cases": [{"problem": {"name": "coupled_ring", "units": 4, "parameters": 4}, **PES_RUN}],
    },
}
# Only with the check for NaN: see docs/gradient_estimation.md.
ONLY_NANS = {"pes_figure4": META, "pes_table2": LAW}


def _compute(fields):
    spec = resolve_run({**fields, "seeds": [0]})
    build = lookup("program", spec.fields["program"], "program").load()
    program = build(spec.fields, spec.fields.get("step_sizes", []), {})
    carry = program.init()
    for _ in range(program.total_steps // program.chunk_steps):
        carry = program.advance(carry)
    assert program.metrics(carry) and program.diverged(carry) == []


@pytest.mark.parametrize("name", RUNS)
def test_runs(checks, name):
    _compute(RUNS[name])


@pytest.mark.parametrize("name", ONLY_NANS)
def test_runs_that_only_the_check_for_nan_knows_how_to_follow(name):
    with jax.debug_nans(True):
        _compute(ONLY_NANS[name])


def test_the_check_takes_keys_for_used_that_a_batch_of_loops_takes_in():
    """Without any key used twice. When this fails, the runs above need no exception."""

    def loop(key):
        keys = jax.random.split(key, 2)
        return jax.lax.scan(lambda total, key: (total + jax.random.normal(key), None), 0.0, keys)[0]

    with jax.debug_key_reuse(True):
        jax.jit(loop)(jax.random.key(0))
        with pytest.raises(KeyReuseError):
            jax.jit(jax.vmap(loop))(jax.random.split(jax.random.key(0), 2))
