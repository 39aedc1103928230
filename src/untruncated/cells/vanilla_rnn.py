"""The plain recurrent network of Elman (1990), and how many of its eigenvalues are complex."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal, orthogonal
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.cells.activations import ACTIVATIONS

_LARGEST_COUNTED = 4


def _uniform(key: PRNGKeyArray, shape: tuple[int, int]) -> Float[Array, "units units"]:
    """Uniform on ±1/√units, as PyTorch's `RNN`."""
    bound = shape[0] ** -0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


RECURRENT_INITS: dict[str, Callable[[PRNGKeyArray, tuple[int, int]], Array]] = {
    "orthogonal": orthogonal(),
    "lecun_normal": lecun_normal(),
    "uniform": _uniform,
}


class VanillaRNNParameters(NamedTuple):
    """W_x and W_h, transposed as Flax's kernels: (inputs, units) and (units, units).

    Without a bias `b` is None, which holds no parameter.
    """

    w: Float[Array, "inputs units"]
    u: Float[Array, "units units"]
    b: Float[Array, " units"] | None = None


@dataclass(frozen=True)
class VanillaRNN:
    """h' = f(W_h h + W_x x + b), features h. RTU paper, Appendix B.2.

    There is no b unless `bias`. The paper does not say how W_h starts: `recurrent_init` is one of
    `RECURRENT_INITS`.
    """

    inputs: int
    width: int
    activation: str = "tanh"
    recurrent_init: str = "orthogonal"
    bias: bool = False

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return (self.width,)

    def init(self, key: PRNGKeyArray) -> VanillaRNNParameters:
        """W_x LeCun normal, b zero; by default W_h is orthogonal, all as in Flax's `SimpleCell`."""
        input_key, recurrent_key = jax.random.split(key)
        return VanillaRNNParameters(
            lecun_normal()(input_key, (self.inputs, self.width)),
            RECURRENT_INITS[self.recurrent_init](recurrent_key, (self.width, self.width)),
            jnp.zeros(self.width) if self.bias else None,
        )

    def initial_state(self) -> Float[Array, " units"]:
        return jnp.zeros(self.width)

    def derive(self, params: VanillaRNNParameters) -> tuple[()]:
        return ()

    def drive(
        self, params: VanillaRNNParameters, derived: tuple[()], x: Float[Array, "*time inputs"]
    ) -> Float[Array, "*time units"]:
        return x @ params.w if params.b is None else x @ params.w + params.b

    def step(
        self,
        params: VanillaRNNParameters,
        derived: tuple[()],
        state: Float[Array, " units"],
        drive: Float[Array, " units"],
    ) -> Float[Array, " units"]:
        return ACTIVATIONS[self.activation].function(drive + state @ params.u)

    def features(
        self,
        params: VanillaRNNParameters,
        state: Float[Array, " units"],
        x: Float[Array, " inputs"],
    ) -> tuple[Float[Array, " units"]]:
        return (state,)

    def constrain(self, params: VanillaRNNParameters) -> VanillaRNNParameters:
        return params


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
