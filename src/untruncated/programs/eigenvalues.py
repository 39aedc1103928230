"""How many eigenvalues of a matrix are complex; RTU paper, Section 3.1 and Figure 8."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

_LARGEST_COUNTED = 4


def complex_eigenvalues(matrix: Float[Array, "size size"]) -> Int[Array, ""]:
    """The number of eigenvalues that are not real, two for each conjugate pair.

    Sums of powers of the eigenvalues, s_k = tr Mᵏ, make Hermite's matrix H_ij = s_{i+j}, which has
    as many negative eigenvalues as there are distinct conjugate pairs (Hermite's theorem on real
    roots). H is symmetric, so this runs inside `jit` and `vmap` and on any device, where the
    eigenvalues of a matrix that is not symmetric need LAPACK.

    Pairs within rounding of the real line count as real: in float32, an imaginary part below about
    a thousandth of the norm of the matrix without its mean eigenvalue. So a defective matrix has
    the count of exact arithmetic, where `eigvals` splits its eigenvalues into pairs. A 4×4 matrix
    that has the same pair twice counts 2.

    Raises:
        ValueError: The matrix is not square, or larger than 4×4, where H is too ill-conditioned
            for float32; use `numpy.linalg.eigvals` there.
    """
    size = matrix.shape[-1]
    if matrix.shape != (size, size) or size > _LARGEST_COUNTED:
        limit = f"{_LARGEST_COUNTED}×{_LARGEST_COUNTED}"
        raise ValueError(
            f"the matrix has shape {matrix.shape}; complex eigenvalues are counted for square "
            f"matrices up to {limit}. For others use numpy.linalg.eigvals"
        )
    identity = jnp.eye(size, dtype=matrix.dtype)
    # Neither a shift nor a scale moves an eigenvalue on or off the real line.
    centred = matrix - jnp.trace(matrix) / size * identity
    # By a power of two first, which rounds nothing: the norm's squares could be 0 or infinite.
    centred = jnp.ldexp(centred, -jnp.frexp(jnp.max(jnp.abs(centred)))[1])
    norm = jnp.linalg.norm(centred)
    scaled = centred / jnp.where(norm > 0, norm, 1)
    powers = [identity]
    for _ in range(2 * size - 2):
        powers.append(powers[-1] @ scaled)
    sums = jnp.stack([jnp.trace(power) for power in powers])
    index = jnp.arange(size)
    hermite = sums[index[:, None] + index]
    rounding = 8 * jnp.finfo(matrix.dtype).eps
    return 2 * jnp.sum(jnp.linalg.eigvalsh(hermite) < -rounding)
