"""Meta-optimisation as a program: against a plain loop, in chunks, and with what is known."""

import functools
from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from untruncated.estimators.unrolled.protocol import full_unroll_loss
from untruncated.experiments.spec import resolve_run
from untruncated.programs import curves, meta_optimisation
from untruncated.running.runner import run

PES = {"name": "pes", "particles": 10, "sigma": 0.3, "truncation": 5}
TOY = {
    "program": "meta_optimisation",
    "steps": 40,
    "problem": {"name": "toy_regression", "horizon": 20},
    "estimator": PES,
    "optimiser": {"name": "adam", "b1": 0.99},
    "step_sizes": [0.01, 0.1],
    "seeds": [0, 7, 3],
}


def _spec(**fields):
    return resolve_run({**TOY, **fields})


def _program(**fields):
    spec = _spec(**fields)
    return meta_optimisation.build(spec.fields, spec.fields["step_sizes"], {})


def _run(program):
    carry = program.init()
    for _ in range(program.total_steps // program.chunk_steps):
        carry = program.advance(carry)
    return carry, {name: metric.values for name, metric in program.metrics(carry).items()}


@functools.cache
def _batch():
    program = _program()
    assert program.chunk_steps == program.total_steps
    return program, *_run(program)


def test_the_curve_is_that_of_a_plain_loop():
    program, _, metrics = _batch()
    problem, estimator = program.problem, program.estimator
    optimiser = optax.adam(0.1, b1=0.99)
    seed = jax.random.key(7)
    theta = problem.initial_theta(jax.random.fold_in(seed, 0))
    state = estimator.init(problem, theta, jax.random.fold_in(seed, 1))
    moments, losses, thetas = optimiser.init(theta), [], []
    step = jax.jit(functools.partial(estimator.step, problem))
    evaluate = jax.jit(functools.partial(full_unroll_loss, problem))
    np.testing.assert_allclose(metrics["initial_loss"], float(evaluate(theta, seed)), rtol=1e-6)
    for iteration in range(40):
        key = jax.random.fold_in(jax.random.fold_in(seed, 2), iteration)
        gradient, state = step(theta, state, key)
        updates, moments = optimiser.update(gradient, moments, theta)
        theta = optax.apply_updates(theta, updates)
        losses.append(float(evaluate(theta, seed)))
        thetas.append(theta)
    assert program.axes["curve_step"] == list(range(1, 41))
    np.testing.assert_allclose(metrics["loss_curve"][1, 1], losses, rtol=1e-5)
    np.testing.assert_allclose(metrics["theta"][1, 1], thetas, rtol=1e-4)
    np.testing.assert_allclose(metrics["loss"][1, 1], losses[-1], rtol=1e-5)
    np.testing.assert_allclose(metrics["loss_last_tenth"][1, 1], np.mean(losses[-4:]), rtol=1e-5)
    assert metrics["inner_steps_per_iteration"] == 5


def test_an_evaluation_is_the_mean_over_inner_problems():
    program = _program(
        problem={"name": "return_prediction", "width": 2, "horizon": 10, "recorded": 200},
        estimator="bptt",
        evaluations=3,
        seeds=[7],
    )
    key = jax.random.key(7)
    theta = program.problem.initial_theta(jax.random.fold_in(key, 0))
    keys = jax.random.split(jax.random.fold_in(jax.random.fold_in(key, 3), 0), 3)
    loss = jax.jit(functools.partial(full_unroll_loss, program.problem))
    losses = [float(loss(theta, key)) for key in keys]
    assert len(set(losses)) == 3
    np.testing.assert_allclose(program.init().initial_loss, [np.mean(losses)], rtol=1e-5)


def test_a_seed_alone_learns_as_in_a_batch():
    _, _, batch = _batch()
    _, alone = _run(_program(seeds=[3], step_sizes=[0.01]))
    for name in ("loss_curve", "theta"):
        np.testing.assert_allclose(alone[name][0, 0], batch[name][0, 2], rtol=1e-5)
    assert np.abs(batch["theta"][0, 1] - batch["theta"][0, 2]).max() > 1e-3


def test_chunks_change_no_number(monkeypatch):
    _, whole, metrics = _batch()
    monkeypatch.setattr(curves, "CHUNK_STEPS", 60)
    program = _program()
    assert program.chunk_steps == 10
    carry, chunked = _run(program)
    for a, b in zip(jax.tree.leaves(carry.members), jax.tree.leaves(whole.members), strict=True):
        np.testing.assert_array_equal(a, b)
    for name in metrics:
        np.testing.assert_array_equal(chunked[name], metrics[name], err_msg=name)


def test_a_run_that_was_broken_off_ends_with_the_same_bytes(monkeypatch, tmp_path):
    monkeypatch.setattr(curves, "CHUNK_STEPS", 60)
    spec = _spec()

    class Broken(meta_optimisation.MetaOptimisation):
        chunks = 0

        def advance(self, carry):
            Broken.chunks += 1
            if Broken.chunks == 3:
                raise KeyboardInterrupt
            return super().advance(carry)

    quiet = {"progress": False, "checkpoint_seconds": 0.0, "log": lambda line: None}
    program = _program()
    unbroken = run(program, spec.canonical, tmp_path / "a" / "runs" / "x.json", **quiet)
    path = tmp_path / "b" / "runs" / "x.json"
    with pytest.raises(KeyboardInterrupt):
        run(Broken(**vars_of(program)), spec.canonical, path, **quiet)
    resumed = run(program, spec.canonical, path, **quiet)
    assert resumed.timing["resumed"] == 1 and unbroken.timing["resumed"] == 0
    for name, metric in unbroken.metrics.items():
        assert resumed.metrics[name].values.tobytes() == metric.values.tobytes(), name


def vars_of(program):
    return {field.name: getattr(program, field.name) for field in fields(program)}


def test_a_diverged_member_is_recorded_and_disturbs_no_other():
    program = _program(
        problem={"name": "influence_balancing"},
        estimator={"name": "truncated_bptt", "truncation": 10},
        optimiser="sgd",
        evaluation_steps=100,
        step_sizes=[1e-4, 1e3],
        seeds=[0, 1],
    )
    carry, metrics = _run(program)
    records = program.diverged(carry)
    assert [(r["step_size"], r["seed"]) for r in records] == [(1e3, 0), (1e3, 1)]
    step = records[0]["step"]
    assert 0 < step < 40 and "not finite" in records[0]["reason"]
    assert np.isfinite(metrics["loss_curve"][0]).all()
    assert np.isfinite(metrics["loss_curve"][1, 0, :step]).all()
    assert np.isnan(metrics["loss_curve"][1, 0, step:]).all()
    assert np.isnan(metrics["theta"][1, 0, step:]).all()
    assert np.isnan(metrics["loss"][1]).all() and np.isfinite(metrics["loss"][0]).all()


def test_the_trajectory_is_thinned_to_what_a_result_file_holds(monkeypatch):
    monkeypatch.setattr(meta_optimisation, "TRAJECTORY_NUMBERS", 2 * 6 * 10)
    program, _, metrics = _batch()
    assert program.axes["trajectory_step"] == list(range(4, 41, 4))
    thinned = program.metrics(_batch()[1])["theta"].values
    np.testing.assert_array_equal(thinned, metrics["theta"][:, :, 3::4])
    monkeypatch.setattr(meta_optimisation, "TRAJECTORY_PARAMETERS", 1)
    assert "parameter" not in _program().axes


def test_evaluation_averages_over_inner_problems_and_clips_what_it_is_told_to():
    program = _program(
        evaluations=3, groups=2, optimiser={"name": "sgd", "momentum": 0.5, "clip": 1e-3}
    )
    carry, metrics = _run(program)
    assert jnp.shape(carry.members.estimator.states) == (2, 3, 2, 10, 2)
    start, thetas = np.array([-4.0, -4.0]), metrics["theta"]
    # b₁ = clip(g), b₂ = b₁ / 2 + clip(g): the first two steps are at most α c and 1.5 α c
    steps = np.abs(np.diff(thetas, axis=2, prepend=np.broadcast_to(start, (2, 3, 1, 2))))
    assert steps[:, :, 0].max() <= 0.1 * 1e-3 * 1.01
    assert 0.1 * 1.2e-3 < steps[1].max() <= 0.1 * 2e-3 * 1.01
    assert np.isfinite(metrics["loss_curve"]).all()


INFLUENCE = {
    "problem": "influence_balancing",
    "optimiser": "sgd",
    "steps": 3000,
    "evaluation_steps": 500,
    "precision": "float64",
    "seeds": [0],
}


ES_1000 = {"particles": 1000, "sigma": 0.1, "truncation": 1}


def _influence_losses(estimator, step_size, **fields):
    """Losses after 500, 1000, 2000 and 3000 iterations, read off between two recorded points."""
    with jax.enable_x64(True):
        program = _program(
            **{**INFLUENCE, "estimator": estimator, "step_sizes": [step_size], **fields}
        )
        _, metrics = _run(program)
    at, steps = [500, 1000, 2000, 3000], program.axes["curve_step"]
    return np.exp([np.interp(at, steps, np.log(curve)) for curve in metrics["loss_curve"][0]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "expected", "factor"),
    [
        ({"name": "truncated_bptt", "truncation": 1}, [12.6, 22, 69, 211], 1.03),
        ({"name": "truncated_bptt", "truncation": 10}, [2.0e3, 5.7e5, 4.5e10, 3.5e15], 1.03),
        ({"name": "truncated_bptt", "truncation": 100}, [0.22, 5.9e-3, 4.3e-6, 3.2e-9], 1.03),
        ({"name": "truncated_es", **ES_1000}, [12.6, 22, 69, 211], 1.04),
        ("rtrl", [1.0e-2, 1.3e-5, 2.2e-11, 3.7e-17], 1.06),
    ],
    ids=["tbptt_1", "tbptt_10", "tbptt_100", "es", "rtrl"],
)
def test_influence_balancing_has_the_known_losses(estimator, expected, factor):
    losses = _influence_losses(estimator, 1e-4)[0]
    assert (np.abs(np.log(losses / expected)) < np.log(factor)).all(), losses


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pes", "pes_analytic"])
def test_pes_balances_influence_about_as_fast_as_rtrl(name):
    losses = _influence_losses({"name": name, **ES_1000}, 1e-4, seeds=[0, 1, 2, 3])
    # medians of six runs of a program in NumPy, one of which reached 9e-14 at 2,000 iterations
    known = [1.2e-2, 2.6e-5, 1.7e-10, 7e-15]
    assert (np.abs(np.log(np.median(losses, axis=0) / known)) < np.log([2, 4, 20, 200])).all()


@pytest.mark.slow
def test_uoro_balances_influence_more_slowly():
    losses = _influence_losses("uoro", 1e-5, seeds=list(range(10)))
    # one run is known to have 5.1, 0.55, 0.83 and 0.22; RTRL has 1e-17 at the end
    assert (np.abs(np.log(np.median(losses, axis=0) / [5.1, 0.55, 0.83, 0.22])) < np.log(6)).all()
    assert losses[:, -1].min() > 1e-6


ES_100 = {"particles": 100, "truncation": 10}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "low", "high"),
    [
        ({"name": "truncated_bptt", "truncation": 10}, 2422.5, 2424),
        ("rtrl", 2422.5, 2424),
        ("uoro", 1400, 2430),
        ({"name": "truncated_es", "sigma": 1.0, **ES_100}, 1430, 1600),
        ({"name": "truncated_es", "sigma": 0.3, **ES_100}, 2420, 2426),
        ({"name": "pes", "sigma": 0.3, **ES_100}, 560, 575),
        ({"name": "pes", "sigma": 1.0, **ES_100}, 615, 670),
    ],
    ids=["tbptt", "rtrl", "uoro", "es_1", "es_0.3", "pes_0.3", "pes_1"],
)
def test_toy_regression_is_where_it_is_known_to_go(estimator, low, high):
    """4,000 of 20,000 iterations: by then only ever the same region is visited."""
    program = _program(
        problem="toy_regression", estimator=estimator, steps=4000, step_sizes=[0.01], seeds=[0]
    )
    _, metrics = _run(program)
    np.testing.assert_allclose(metrics["initial_loss"], 2487.8, atol=0.1)
    assert low < metrics["loss_last_tenth"][0, 0] < high
