"""Measured errors of gradient estimates against what is known of them."""

import jax
import numpy as np
import pytest

from untruncated.experiments.spec import resolve_run
from untruncated.programs import curves, estimator_variance

SMALL = {"name": "character_lstm", "horizon": 12, "units": 2, "embedding": 2}
PES = {"name": "pes", "particles": 40, "sigma": 1e-3, "truncation": 12}
SPEC = {
    "program": "estimator_variance",
    "problem": SMALL,
    "estimator": PES,
    "seeds": [0],
    "precision": "float64",
}


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _measure(**fields):
    spec = resolve_run({**SPEC, **fields})
    program = estimator_variance.build(spec.fields, [], {})
    carry = program.init()
    for _ in range(program.total_steps // program.chunk_steps):
        carry = program.advance(carry)
    assert carry.step == program.total_steps
    assert program.diverged(carry) == []
    return {name: metric.values for name, metric in program.metrics(carry).items()}, carry


def test_one_unroll_has_the_variance_of_antithetic_es():
    metrics, carry = _measure(
        problem={"name": "character_lstm", "horizon": 5},
        estimator={**PES, "particles": 1000, "truncation": 5},
        seeds=[0, 1, 2, 3],
    )
    errors = metrics["relative_squared_error"]
    assert errors.shape == (4,) and metrics["unrolls"] == 1 and carry.truth.size == 790
    np.testing.assert_allclose(errors.mean(), 791 / 500, rtol=0.1)
    np.testing.assert_allclose(metrics["gradient_norm"], np.linalg.norm(carry.truth))


def test_backpropagation_has_no_error_and_full_es_is_a_noisy_truth():
    exact, carry = _measure(estimator="bptt", seeds=[0, 1])
    np.testing.assert_allclose(exact["relative_squared_error"], 0, atol=1e-25)
    noisy, other = _measure(
        estimator="bptt", seeds=[0], truth="full_es", truth_particles=2000, truth_sigma=1e-3
    )
    expected = (carry.truth.size + 1) / 1000
    squared = ((other.truth - carry.truth) ** 2).sum() / (carry.truth**2).sum()
    np.testing.assert_allclose(squared, expected, rtol=0.4)
    assert 0.3 * expected < noisy["relative_squared_error"][0] < 3 * expected


def test_the_analytic_variant_is_better_and_neither_chunks_nor_other_seeds_matter(monkeypatch):
    seeds = list(range(10))
    one, _ = _measure(estimator={**PES, "name": "pes_analytic"}, seeds=seeds)
    np.testing.assert_allclose(one["relative_squared_error"], 0, atol=1e-9)
    more = {**PES, "truncation": 3}
    analytic, _ = _measure(estimator={**more, "name": "pes_analytic"}, seeds=seeds)
    plain, whole = _measure(estimator=more, seeds=seeds)
    mean = {k: m["relative_squared_error"].mean() for k, m in (("a", analytic), ("p", plain))}
    assert 1e-9 < mean["a"] < 0.1 * mean["p"]
    assert plain["unrolls"] == 4
    monkeypatch.setattr(curves, "CHUNK_STEPS", 1)
    alone, chunked = _measure(estimator=more, seeds=[7])
    np.testing.assert_allclose(chunked.sums[0], whole.sums[7], rtol=1e-9)
    np.testing.assert_allclose(
        alone["relative_squared_error"][0], plain["relative_squared_error"][7], rtol=1e-9
    )
