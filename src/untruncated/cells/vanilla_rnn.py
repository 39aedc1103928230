"""The plain recurrent network of Elman (1990)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal, orthogonal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.cells import VanillaRNNFields
from untruncated.cells.activations import ACTIVATIONS


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
class VanillaRNN(VanillaRNNFields):
    """h' = f(W_h h + W_x x + b), features h. RTU paper, Appendix B.2.

    There is no b unless `bias`. The paper does not say how W_h starts: `recurrent_init` is one of
    `RECURRENT_INITS`.
    """

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
