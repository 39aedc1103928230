"""The exact variance of PES against its definition and against the closed forms of Table 2."""

import jax
import numpy as np
import pytest

from untruncated.catalogue.variance_laws import relative_pes_variance
from untruncated.problems.pes_variance import pes_variance

SIZES = [(1, 3), (2, 3), (8, 3), (5, 1)]


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _mask(structure, unrolls):
    return np.eye(unrolls) if structure == "diagonal" else np.triu(np.ones((unrolls, unrolls)))


@pytest.mark.parametrize("structure", ["diagonal", "upper_triangular"])
@pytest.mark.parametrize(("unrolls", "parameters"), SIZES)
def test_identical_entries_have_the_closed_form(structure, unrolls, parameters):
    g = np.random.default_rng(0).normal(size=parameters)
    gradients = _mask(structure, unrolls)[:, :, None] * g
    total = (gradients.sum(axis=(0, 1)) ** 2).sum()
    expected = relative_pes_variance(structure, "identical", unrolls, parameters) * total
    np.testing.assert_allclose(pes_variance(gradients, 2), expected, rtol=1e-12)
    np.testing.assert_allclose(pes_variance(gradients, 50), expected / 25, rtol=1e-12)


@pytest.mark.parametrize("structure", ["diagonal", "upper_triangular"])
@pytest.mark.parametrize(("unrolls", "parameters"), SIZES)
def test_independent_entries_have_the_closed_form_on_average(structure, unrolls, parameters):
    draws = np.random.default_rng(1).normal(size=(20_000, unrolls, unrolls, parameters))
    draws *= _mask(structure, unrolls)[:, :, None]
    variances = np.asarray(jax.jit(jax.vmap(lambda g: pes_variance(g, 2)))(draws))
    totals = (draws.sum(axis=(1, 2)) ** 2).sum(axis=-1)
    expected = relative_pes_variance(structure, "independent", unrolls, parameters)
    np.testing.assert_allclose(variances.mean() / totals.mean(), expected, rtol=0.03)


def test_monte_carlo_of_the_estimator_itself():
    """Pairs of perturbations straight from the definition, Σ_t ξ_t Σ_{m≤t} ε_m·g[m, t] / σ²."""
    rng = np.random.default_rng(2)
    unrolls, parameters, pairs = 4, 3, 200_000
    gradients = rng.normal(size=(unrolls, unrolls, parameters))
    gradients *= _mask("upper_triangular", unrolls)[:, :, None]
    noise = rng.normal(size=(pairs, unrolls, parameters))
    halves = np.einsum("nmp,mtp->nt", noise, gradients)
    estimates = np.einsum("ntp,nt->np", noise.cumsum(axis=1), halves)
    total = gradients.sum(axis=(0, 1))
    assert np.abs(estimates.mean(axis=0) - total).max() < 0.1
    measured = ((estimates - total) ** 2).sum(axis=1)
    error = measured.std() / np.sqrt(pairs)
    predicted = pes_variance(gradients, 2)
    assert abs(measured.mean() - predicted) < 3.3 * error
    assert error < 0.01 * predicted


def test_one_unroll_has_the_variance_of_es_and_the_lower_triangle_does_not_count():
    g = np.random.default_rng(3).normal(size=(1, 1, 5))
    np.testing.assert_allclose(pes_variance(g, 2), 6 * (g**2).sum(), rtol=1e-12)
    for structure in ("diagonal", "upper_triangular"):
        for entries in ("identical", "independent"):
            np.testing.assert_allclose(relative_pes_variance(structure, entries, 1, 5), 6)
    full = np.random.default_rng(4).normal(size=(3, 3, 2))
    upper = _mask("upper_triangular", 3)[:, :, None] * full
    np.testing.assert_allclose(pes_variance(full, 2), pes_variance(upper, 2), rtol=1e-12)


def test_an_unknown_cell_is_refused():
    with pytest.raises(ValueError, match="no cell"):
        relative_pes_variance("full", "identical", 3, 2)


@pytest.mark.parametrize("particles", [0, 1, 3])
def test_particles_that_make_no_pairs_are_refused(particles):
    with pytest.raises(ValueError, match="an even number from 2 on"):
        pes_variance(np.ones((1, 1, 1)), particles)
