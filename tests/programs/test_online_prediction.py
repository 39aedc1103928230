"""Online prediction: batches, chunks, compilations, divergence, and the floor nobody may beat."""

import functools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.agents.adam import bias_corrections
from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.environments.trace_conditioning_optimal import constant_msre
from untruncated.experiments.spec import resolve_run
from untruncated.programs import curves, online_prediction, optimal_prediction
from untruncated.programs.online_prediction import _advance
from untruncated.programs.streams import start_streams, stream_with_returns

SEED, SEEDS, SIZES, STEPS = 7, [3, 0, 7, 12, 5], [1e-2, 1e-3, 1e-4], 200
LEARNERS = pytest.mark.parametrize("learner", ["td", "delayed_return"])


def _program(
    learner="td", sizes=SIZES, seeds=SEEDS, steps=STEPS, width=6, delay=70, hidden=0, **fields
):
    spec = resolve_run(
        {
            "program": "online_prediction",
            "steps": steps,
            "environment": {"name": "trace_conditioning", "interval": 10},
            "cell": {"name": "linear_rtu", "width": width},
            "credit": "rtrl",
            **fields,
            "learner": {
                "name": learner,
                "discount": 0.9,
                "hidden": hidden,
                **({"delay": delay} if learner == "delayed_return" else {}),
            },
            "step_sizes": sizes,
            "seeds": seeds,
        }
    )
    return online_prediction.build(spec.fields, spec.fields["step_sizes"], {})


def _run(program):
    carry = program.init()
    for _ in range(program.total_steps // program.chunk_steps):
        carry = program.advance(carry)
    return carry


def _metrics(program, carry=None):
    carry = _run(program) if carry is None else carry
    return {name: metric.values for name, metric in program.metrics(carry).items()}


@functools.cache
def _batch(learner):
    """Three step sizes, five seeds, 200 steps in one chunk; 200 bins, so the curve has each step.

    Compiling takes seconds, so the tests share it.
    """
    program = _program(learner)
    assert program.chunk_steps == STEPS
    carry = _run(program)
    return carry, _metrics(program, carry)


def test_a_seed_sees_the_same_stream_alone_and_in_a_batch():
    environment, steps = TraceConditioning(10), 500

    @jax.jit
    def observe(seeds):
        return jax.vmap(lambda state: stream_with_returns(environment, 0.9, state, steps)[1:])(
            start_streams(environment, seeds)
        )

    alone, batch = observe(jnp.array([SEED])), observe(jnp.array(SEEDS))
    for one, many in zip(alone, batch, strict=True):
        np.testing.assert_array_equal(one[0], many[2])
    assert not np.array_equal(batch[0][0], batch[0][2])


@LEARNERS
def test_a_seed_alone_learns_as_in_a_batch_among_other_step_sizes(monkeypatch, learner):
    batch = _batch(learner)[1]
    monkeypatch.setattr(curves, "CHUNK_STEPS", 50)  # one member, fifty steps; the batch did 200
    alone = _metrics(_program(learner, [1e-3], [SEED]))
    assert alone["msre_curve"].shape == (1, 1, STEPS)
    curve = alone["msre_curve"][0, 0]
    np.testing.assert_allclose(curve, batch["msre_curve"][1, 2], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(alone["msre"][0, 0], batch["msre"][1, 2], rtol=1e-5)
    others = np.delete(batch["msre"].ravel(), 1 * 5 + 2)
    assert np.all(np.abs(others / alone["msre"][0, 0] - 1) > 1e-4)


def test_chunks_change_no_number_and_need_one_compilation(monkeypatch):
    whole_carry, whole = _batch("td")
    monkeypatch.setattr(curves, "CHUNK_STEPS", 50 * 15)  # of all fifteen members
    program = _program()
    before = _advance._cache_size()
    carry = _run(program)
    assert program.chunk_steps == 50
    assert carry.step == whole_carry.step == STEPS
    assert _advance._cache_size() == before + 1
    for a, b in zip(
        jax.tree.leaves(carry.learners), jax.tree.leaves(whole_carry.learners), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    # Returns are sums from the end of a chunk backwards, so their last digit may differ.
    for name, values in _metrics(program, carry).items():
        np.testing.assert_allclose(values, whole[name], rtol=1e-5, atol=1e-7, err_msg=name)


def test_chunks_that_split_bins_change_no_number(monkeypatch):
    sizes = [1e-3, 1e38]  # the second diverges
    whole = _program(sizes=sizes, seeds=[0, 1], steps=2_000)
    assert (whole.timeline.bin_steps, whole.chunk_steps) == (10, 2_000)
    expected, carry = _metrics(whole), _run(whole)
    monkeypatch.setattr(curves, "CHUNK_STEPS", 5 * 4)  # of all four members
    parts = _program(sizes=sizes, seeds=[0, 1], steps=2_000)
    assert parts.chunk_steps == 5
    in_parts = _run(parts)
    for name, values in _metrics(parts, in_parts).items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-5, atol=1e-7, err_msg=name)
    assert parts.diverged(in_parts) == whole.diverged(carry) != []


def test_what_is_compiled_names_neither_seeds_nor_step_sizes():
    carry, _ = _batch("td")
    others = _program(sizes=[0.5, 1e-5, 0.1], seeds=[77, 4, 1, 9, 30])
    texts = {_advance.lower(program, carry).as_text() for program in (_program(), others)}
    assert len(texts) == 1


@LEARNERS
def test_error_equals_brute_force(learner):
    """Every prediction made step by step, every return summed term by term."""
    tail, program = 200, _program(learner)
    predictor, environment = program.predictor, program.environment
    delay = getattr(predictor, "delay", 0)
    key = jax.random.key(SEED)
    stream = environment.start(jax.random.fold_in(key, 0))
    _, seen = jax.jit(environment.unroll, static_argnums=1)(stream, STEPS + tail)
    observations, cumulants = map(np.asarray, (seen.observation, seen.reward))
    state = jax.jit(predictor.init)(jax.random.fold_in(key, 1))
    step, corrections = jax.jit(predictor.step), jax.jit(bias_corrections)
    errors = []
    for t in range(STEPS):
        if delay:
            past = max(t - delay, 0)
            cut = np.float32(0.9 ** np.arange(delay) @ cumulants[past + 1 :][:delay])
            own, shared = (observations[t], observations[past], cut), (t >= delay,)
            count = max(t - delay + 1, 1)
        else:
            own, shared, count = (observations[t], cumulants[t]), (), max(t, 1)
        shared = *shared, corrections(np.int32(count))
        state, value = step(state, *own, np.float32(1e-2), *shared)
        future = cumulants[t + 1 : t + 1 + tail]
        errors.append((float(value) - 0.9 ** np.arange(tail) @ future) ** 2)
    metrics = _batch(learner)[1]
    np.testing.assert_allclose(metrics["msre_curve"][0, 2], errors, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(metrics["msre"][0, 2], np.mean(errors), rtol=1e-4)
    last = np.mean(errors[-STEPS // 10 :])
    np.testing.assert_allclose(metrics["msre_last_tenth"][0, 2], last, rtol=1e-4)


def test_a_diverged_member_is_recorded_and_disturbs_no_other(monkeypatch):
    monkeypatch.setattr(curves, "CHUNK_STEPS", 50 * 6)  # of all six members
    program = _program(sizes=[1e-2, 1e30, 1e-3], seeds=[3, 0])
    carry = program.advance(program.init())
    early, early_metrics = program.diverged(carry), _metrics(program, carry)
    for _ in range(3):
        carry = program.advance(carry)
    records, metrics = program.diverged(carry), _metrics(program, carry)
    assert records == early
    assert [(r["step_size"], r["seed"]) for r in records] == [(1e30, 3), (1e30, 0)]
    for j, record in enumerate(records):
        assert set(record) == {"step_size", "seed", "step", "reason"}
        assert "not finite" in record["reason"]
        # Bins are single steps: finite before the first lost one, NaN from it on, also in what a
        # run that stops after its first chunk has never computed.
        assert 1 <= record["step"] < 50
        for curve in (early_metrics["msre_curve"][1, j], metrics["msre_curve"][1, j]):
            assert np.isfinite(curve[: record["step"]]).all()
            assert np.isnan(curve[record["step"] :]).all()
        for name in ("msre", "msre_last_tenth"):
            assert np.isnan(early_metrics[name][1, j]) and np.isnan(metrics[name][1, j])
    for name, values in _batch("td")[1].items():
        np.testing.assert_allclose(
            metrics[name][[0, 2]], values[:2, :2], rtol=1e-5, atol=1e-7, err_msg=name
        )


@functools.cache
def _bayes(steps, seeds):
    return _metrics(
        optimal_prediction.OptimalPrediction(TraceConditioning(10), 0.9, list(seeds), steps)
    )


@LEARNERS
def test_nothing_beats_the_bayes_optimal_predictor(learner):
    steps, seeds = 40_000, (0, 1, 2, 3, 4, 5)
    learnt = _metrics(_program(learner, [1e-3], list(seeds), steps, width=20, delay=100))
    for name in ("msre", "msre_last_tenth"):
        difference = learnt[name][0] - _bayes(steps, seeds)[name]
        standard_error = difference.std(ddof=1) / np.sqrt(len(seeds))
        assert difference.mean() >= -4 * standard_error, name
    # It has learned, so the bound is not an idle one.
    limit = 0.6 * constant_msre(TraceConditioning(10), 0.9)
    assert learnt["msre_last_tenth"].mean() < limit


def test_fidelity_reaches_a_cell_that_has_one_and_hidden_units_the_learner():
    assert _program(fidelity="reference").predictor.cell.fidelity == "reference"
    assert _program().predictor.cell.fidelity == "exact"
    window = {"name": "truncated_bptt", "truncation": 2}
    gru = _program(cell={"name": "gru", "width": 2}, credit=window).predictor.cell
    assert not hasattr(gru, "fidelity")
    for learner in ("td", "delayed_return"):
        assert _program(learner, hidden=5).predictor.head.hidden == 5


def test_dense_rtrl_and_bptt_give_a_gru_the_same_gradients_while_parameters_stay():
    gru, steps = {"name": "gru", "width": 3}, 60
    credits = "dense_rtrl", "bptt", {"name": "truncated_bptt", "truncation": 5}
    learners = [_program(steps=steps, cell=gru, credit=credit).predictor for credit in credits]
    assert learners[1].gradient.truncation == steps
    rng = np.random.default_rng(0)
    inputs = rng.random((steps, 12)) < 0.2, rng.random(steps) < 0.2

    def run(learner):
        start = jax.eval_shape(learner.init, jax.random.key(0))
        start = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), start)
        draw = np.random.default_rng(1)
        params = jax.tree.map(lambda leaf: 0.5 * draw.normal(size=leaf.shape), start.params)

        def step(state, xs):
            return learner.step(
                state, *xs, step_size=0.0, corrections=bias_corrections(jnp.int32(1))
            )

        return jax.lax.scan(step, start._replace(params=params), inputs)[0]

    quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
    with jax.enable_x64(True):
        inputs = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), inputs)
        dense, full, cut = quick_jit(lambda: [run(learner) for learner in learners])()
    # Of all steps' gradients the eligibility is a sum, the second moment one of squares.
    for kind in ("eligibility", "moments", "value"):
        leaves = (jax.tree.leaves(getattr(learner, kind)) for learner in (dense, full))
        for a, b in zip(*leaves, strict=True):
            assert a.dtype == np.float64 and np.abs(b).max() > 0
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12 * np.abs(b).max())
    whole, window = (np.asarray(learner.eligibility.cell.u) for learner in (full, cut))
    assert np.abs(whole - window).max() > 1e-4 * np.abs(whole).max()


def test_runs_in_float64():
    with jax.enable_x64(True):
        wide = _program(sizes=[1e-2, 1e-3], seeds=[3, 0])
        carry = _run(wide)
        wide_metrics = _metrics(wide, carry)
    narrow_carry, narrow_metrics = _batch("td")
    for tree, dtype in ((carry, np.float64), (narrow_carry, np.float32)):
        floats = [
            leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)
        ]
        assert {leaf.dtype for leaf in floats} == {np.dtype(dtype)}
    assert {values.dtype for values in wide_metrics.values()} == {np.dtype(np.float64)}
    assert {values.dtype for values in narrow_metrics.values()} == {np.dtype(np.float32)}
    assert np.isfinite(wide_metrics["msre"]).all()


def test_axes_name_every_member_and_bin():
    program = _program(sizes=[1e-2, 1e-3], seeds=[4, 9, 2], steps=400)
    assert program.axes["step_size"] == [1e-2, 1e-3]
    assert program.axes["seed"] == [4, 9, 2]
    assert program.axes["curve_step"] == list(range(2, 401, 2))
    assert program.members == 6
