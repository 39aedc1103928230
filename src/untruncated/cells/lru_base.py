"""What the LRU and its nonlinear variant share: parameters, input and read-out."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.cells import LRUFields
from untruncated.cells.complex_traces import ComplexGradient, ComplexState, zero_state
from untruncated.cells.rotation import Rotation, chain_rule, constrain, init_rotation, rotation


class LRUParameters(NamedTuple):
    """ν, θ, log γ: (units,); B: (inputs, units); C: (units, outputs); D: (inputs, outputs).

    D is None where the layer has no skip connection.
    """

    nu: Float[Array, " units"]
    theta: Float[Array, " units"]
    gamma_log: Float[Array, " units"]
    b_real: Float[Array, "inputs units"]
    b_imag: Float[Array, "inputs units"]
    c_real: Float[Array, "units outputs"]
    c_imag: Float[Array, "units outputs"]
    d: Float[Array, "inputs outputs"] | None = None


class LRUDerived(NamedTuple):
    """Eigenvalues, and the learned input scale exp(γ_log), shape (units,)."""

    rotation: Rotation
    scale: Float[Array, " units"]


@dataclass(frozen=True)
class LRUBase(LRUFields):
    """n complex units driven by exp(γ_log) B x, where `width` is n, read out by Re(C z) + D x.

    `outputs` is the number of rows of C; `None` means as many as units. Unlike the RTU's, γ is
    learned freely after its initialisation at sqrt(1 - r²).
    """

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return (self.width if self.outputs is None else self.outputs,)

    def init(self, key: PRNGKeyArray) -> LRUParameters:
        keys = jax.random.split(key, 6)
        (outputs,) = self.feature_sizes
        nu, theta = init_rotation(self.parameterisation, keys[0], self.width)
        b_shape, c_shape = (self.inputs, self.width), (self.width, outputs)
        b_scale, c_scale = (2 * self.inputs) ** -0.5, self.width**-0.5
        return LRUParameters(
            nu=nu,
            theta=theta,
            gamma_log=jnp.log(rotation(self.parameterisation, nu, theta).gamma),
            b_real=b_scale * jax.random.normal(keys[1], b_shape),
            b_imag=b_scale * jax.random.normal(keys[2], b_shape),
            c_real=c_scale * jax.random.normal(keys[3], c_shape),
            c_imag=c_scale * jax.random.normal(keys[4], c_shape),
            d=jax.random.normal(keys[5], (self.inputs, outputs)) if self.skip else None,
        )

    def initial_state(self) -> ComplexState:
        return zero_state(self.width)

    def derive(self, params: LRUParameters) -> LRUDerived:
        return LRUDerived(
            rotation(self.parameterisation, params.nu, params.theta), jnp.exp(params.gamma_log)
        )

    def drive(
        self, params: LRUParameters, derived: LRUDerived, x: Float[Array, "*time inputs"]
    ) -> ComplexState:
        return ComplexState(
            derived.scale * (x @ params.b_real), derived.scale * (x @ params.b_imag)
        )

    def read_out(
        self, params: LRUParameters, state: ComplexState, x: Float[Array, " inputs"]
    ) -> Float[Array, " outputs"]:
        """Re(C z) + D x."""
        output = state.real @ params.c_real - state.imag @ params.c_imag
        return output if params.d is None else output + x @ params.d

    def constrain(self, params: LRUParameters) -> LRUParameters:
        return params._replace(nu=constrain(self.parameterisation, params.nu))

    def from_complex(
        self, params: LRUParameters, derived: LRUDerived, gradient: ComplexGradient
    ) -> LRUParameters:
        """The gradient of the parameters, from that of λ, log γ and B; zero for C and D."""
        # γ is a parameter of its own here: the radius reaches the state through λ alone.
        dnu, dtheta = chain_rule(derived.rotation, gradient.g, gradient.phi)
        return LRUParameters(
            nu=dnu,
            theta=dtheta,
            gamma_log=gradient.log_scale,
            b_real=gradient.w_real,
            b_imag=gradient.w_imag,
            c_real=jnp.zeros_like(params.c_real),
            c_imag=jnp.zeros_like(params.c_imag),
            d=None if params.d is None else jnp.zeros_like(params.d),
        )
