"""The count of complex eigenvalues against numpy's eigenvalues."""

import jax
import numpy as np
import pytest

from untruncated.programs.eigenvalues import complex_eigenvalues

RNG = np.random.default_rng(0)
count = jax.jit(jax.vmap(complex_eigenvalues))


def _counts(matrices):
    return np.asarray(count(np.asarray(matrices, np.float32)))


def _by_numpy(matrices):
    values = np.linalg.eigvals(np.asarray(matrices, np.float32).astype(np.float64))
    return np.sum(values.imag != 0, axis=-1)


def _orthogonal(size=3):
    return np.linalg.qr(RNG.normal(size=(size, size)))[0]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_equals_numpys_eigenvalues_of_random_matrices(size):
    matrices = RNG.normal(size=(5_000, size, size)) * 10 ** RNG.uniform(-4, 4, (5_000, 1, 1))
    ours, numpys = _counts(matrices), _by_numpy(matrices)
    assert set(np.unique(numpys)) == set(range(0, size + 1, 2))
    # A pair next to the real line may fall on either side of it.
    assert np.sum(ours != numpys) <= (2 if size == 4 else 0)


def test_equals_numpys_in_float64():
    matrices = RNG.normal(size=(5_000, 3, 3))
    with jax.enable_x64(True):
        ours = np.asarray(count(matrices))
    np.testing.assert_array_equal(ours, np.sum(np.linalg.eigvals(matrices).imag != 0, axis=-1))


@pytest.mark.parametrize("size", [1e-36, 1e-30, 1e-20, 1e20, 1e37])
def test_the_size_of_a_matrix_does_not_matter(size):
    matrices = RNG.normal(size=(500, 3, 3))
    np.testing.assert_array_equal(_counts(size * matrices), _by_numpy(matrices))


@pytest.mark.parametrize("angle", [1e-2, 1.0, 3.0])
def test_a_rotation_beside_a_real_eigenvalue(angle):
    block = np.diag([np.cos(angle), np.cos(angle), 0.7])
    block[0, 1], block[1, 0] = -np.sin(angle), np.sin(angle)
    turned = [q @ block @ q.T for q in (_orthogonal() for _ in range(200))]
    assert np.all(_counts(turned) == 2)


def _similar(matrix):
    """The same eigenvalues and Jordan form, well conditioned."""
    change = _orthogonal() @ np.diag(RNG.uniform(0.5, 2, size=3)) @ _orthogonal()
    return change @ matrix @ np.linalg.inv(change)


REAL = {
    "zero": lambda a, b: np.zeros((3, 3)),
    "a multiple of the identity": lambda a, b: a * np.eye(3),
    "diagonal": lambda a, b: np.diag([a, b, a + b]),
    "symmetric": lambda a, b: (q := _orthogonal()) @ np.diag([a, b, a - b]) @ q.T,
    "symmetric with a double eigenvalue": lambda a, b: (
        (q := _orthogonal()) @ np.diag([a, a, b]) @ q.T
    ),
    "triangular with a triple eigenvalue": lambda a, b: a * np.eye(3) + np.triu(np.ones((3, 3)), 1),
    "defective, double": lambda a, b: _similar(np.array([[a, 1, 0], [0, a, 0], [0, 0, b]])),
    "defective, triple": lambda a, b: _similar(np.array([[a, 1, 0], [0, a, 1], [0, 0, a]])),
}


@pytest.mark.parametrize("name", REAL)
def test_no_complex_eigenvalue_where_theory_has_none(name):
    matrices = [REAL[name](a, b) for a, b in RNG.normal(size=(500, 2))]
    assert not _counts(matrices).any()
    if name == "defective, triple":
        assert _by_numpy(matrices).any(), "rounding splits it for numpy"


def test_what_cannot_be_counted_is_refused():
    for shape in ((5, 5), (2, 3)):
        with pytest.raises(ValueError, match=r"numpy\.linalg\.eigvals"):
            complex_eigenvalues(np.zeros(shape, np.float32))
