"""The exact variance of PES on losses that are linear or quadratic; PES paper, Section 4.1.

Per unroll m there is a copy θ_m of the parameters, and g[m, t] = ∂L_t/∂θ_m, which is zero for
m > t. The estimate is the sum over all unrolls of an inner problem, with θ held fixed.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float


def pes_variance(
    gradients: Float[Array, "unrolls unrolls parameters"], particles: int
) -> Float[Array, ""]:
    """Trace of the covariance of the PES gradient; σ cancels.

    Σ_ij P r Σ_{m≤r} g[m,i]·g[m,j] + (Σ_{m≤r} g[m,i])·(Σ_{m≤r} g[m,j]) with r = min(i, j) counted
    from 1, for one pair; divided by the N/2 pairs.

    Args:
        gradients: g, by m and then by t; the entries with m > t are not looked at.
        particles: N, both halves of the pairs counted.

    Raises:
        ValueError: There is not an even number of particles.
    """
    if particles < 2 or particles % 2:
        raise ValueError(f"particles must be an even number from 2 on, not {particles}")
    unrolls, _, parameters = gradients.shape
    upper = jnp.triu(jnp.ones((unrolls, unrolls)))[:, :, None]
    gradients = upper * gradients
    index = jnp.arange(unrolls)
    shorter = jnp.minimum(index[:, None], index[None, :])
    # cumulative over m: entry r of an array below sums the unrolls up to and including r
    products = jnp.cumsum(jnp.einsum("mip,mjp->mij", gradients, gradients), axis=0)
    sums = jnp.cumsum(gradients, axis=0)
    i, j = index[:, None], index[None, :]
    same = products[shorter, i, j]
    crossed = (sums[shorter, i] * sums[shorter, j]).sum(axis=-1)
    pair = (parameters * (shorter + 1) * same + crossed).sum()
    return pair / (particles // 2)
