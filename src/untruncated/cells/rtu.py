"""What the linear and the nonlinear recurrent trace unit (RTU) share: parameters and input."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.cells import RTUFields
from untruncated.catalogue.fidelity import Fidelity
from untruncated.cells.complex_traces import ComplexGradient, ComplexState, zero_state
from untruncated.cells.rotation import (
    Rotation,
    chain_rule,
    constrain,
    init_rotation,
    rotation,
    scale_slope,
)


class RTUParameters(NamedTuple):
    """ν and θ, shape (units,); W1 and W2 transposed, shape (inputs, units), as Flax's kernels."""

    nu: Float[Array, " units"]
    theta: Float[Array, " units"]
    w_real: Float[Array, "inputs units"]
    w_imag: Float[Array, "inputs units"]


@dataclass(frozen=True)
class RTU(RTUFields):
    """n complex units driven by γ W x, where `width` is n: 2n real features.

    The fidelity "reference" leaves the factor θ = exp(θ_log) out of the RTRL gradient of θ_log, as
    the RTU paper's public code does; with other parameterisations there is no such factor. Whatever
    differentiates through `step` is exact all the same.

    Raises:
        ValueError: A field has a value that is not allowed, or there is no reference for the
            parameterisation.
    """

    fidelity: Fidelity = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fidelity == "reference" and self.parameterisation != "exp_exp":
            raise ValueError(
                "the fidelity 'reference' differs under the parameterisation 'exp_exp' alone, "
                f"not under {self.parameterisation!r}"
            )

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return self.width, self.width

    def init(self, key: PRNGKeyArray) -> RTUParameters:
        """λ uniform on the unit disc, W1 and W2 LeCun normal, no bias."""
        rotation_key, real_key, imag_key = jax.random.split(key, 3)
        nu, theta = init_rotation(self.parameterisation, rotation_key, self.width)
        kernel, shape = lecun_normal(), (self.inputs, self.width)
        return RTUParameters(nu, theta, kernel(real_key, shape), kernel(imag_key, shape))

    def initial_state(self) -> ComplexState:
        return zero_state(self.width)

    def derive(self, params: RTUParameters) -> Rotation:
        derived = rotation(self.parameterisation, params.nu, params.theta)
        if self.fidelity == "reference":
            return derived._replace(angle_slope=jnp.ones_like(params.theta))
        return derived

    def drive(
        self, params: RTUParameters, derived: Rotation, x: Float[Array, "*time inputs"]
    ) -> ComplexState:
        return ComplexState(
            derived.gamma * (x @ params.w_real), derived.gamma * (x @ params.w_imag)
        )

    def constrain(self, params: RTUParameters) -> RTUParameters:
        return params._replace(nu=constrain(self.parameterisation, params.nu))

    def from_complex(self, derived: Rotation, gradient: ComplexGradient) -> RTUParameters:
        """The gradient of the parameters, from that of λ, log γ and the input weights."""
        dnu, dtheta = chain_rule(derived, gradient.g, gradient.phi)
        dnu = dnu + scale_slope(self.parameterisation, derived) * gradient.log_scale
        return RTUParameters(dnu, dtheta, gradient.w_real, gradient.w_imag)
