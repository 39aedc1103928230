"""The linear recurrent trace unit (RTU): a complex diagonal recurrence, activation after it."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
from jax.nn.initializers import lecun_normal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.cells import complex_traces as traces_of
from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.complex_traces import ComplexState, ComplexTraces
from untruncated.cells.rotation import Rotation, chain_rule, constrain, init_rotation, rotation


class RTUParameters(NamedTuple):
    """ν and θ, shape (units,); W1 and W2 transposed, shape (inputs, units), as Flax's kernels."""

    nu: Float[Array, " units"]
    theta: Float[Array, " units"]
    w_real: Float[Array, "inputs units"]
    w_imag: Float[Array, "inputs units"]


@dataclass(frozen=True)
class LinearRTU:
    """h' = λ h + γ W x in complex form, features f([h1; h2]). RTU paper, Eq. 2.

    `width` is the number n of complex units: 2n real features.
    """

    inputs: int
    width: int
    activation: str = "relu"
    parameterisation: str = "exp_exp"

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return self.width, self.width

    def init(self, key: PRNGKeyArray) -> RTUParameters:
        return init_rtu(key, self.parameterisation, self.inputs, self.width)

    def initial_state(self) -> ComplexState:
        return traces_of.zero_state(self.width)

    def derive(self, params: RTUParameters) -> Rotation:
        return rotation(self.parameterisation, params.nu, params.theta)

    def drive(
        self, params: RTUParameters, derived: Rotation, x: Float[Array, "*time inputs"]
    ) -> ComplexState:
        return ComplexState(
            derived.gamma * (x @ params.w_real), derived.gamma * (x @ params.w_imag)
        )

    def step(
        self, params: RTUParameters, derived: Rotation, state: ComplexState, drive: ComplexState
    ) -> ComplexState:
        real, imag = traces_of.rotate(derived.g, derived.phi, state.real, state.imag)
        return ComplexState(real + drive.real, imag + drive.imag)

    def features(
        self, params: RTUParameters, state: ComplexState, x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
        function = ACTIVATIONS[self.activation].function
        return function(state.real), function(state.imag)

    def constrain(self, params: RTUParameters) -> RTUParameters:
        return params._replace(nu=constrain(self.parameterisation, params.nu))

    def initial_traces(self) -> ComplexTraces:
        return traces_of.zero_traces(self.inputs, self.width)

    def advance(
        self,
        params: RTUParameters,
        derived: Rotation,
        traces: ComplexTraces,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, " inputs"],
    ) -> ComplexTraces:
        return traces_of.advance(derived.g, derived.phi, derived.gamma, traces, before, x)

    def contract(
        self,
        params: RTUParameters,
        derived: Rotation,
        traces: ComplexTraces,
        state: ComplexState,
        cotangent: ComplexState,
    ) -> RTUParameters:
        gradient = traces_of.contract(traces, state, cotangent)
        dnu, dtheta = chain_rule(derived, gradient.g, gradient.phi, gradient.log_scale)
        return RTUParameters(dnu, dtheta, gradient.w_real, gradient.w_imag)


def init_rtu(key: PRNGKeyArray, parameterisation: str, inputs: int, units: int) -> RTUParameters:
    """λ uniform on the unit disc, W1 and W2 LeCun normal, no bias."""
    rotation_key, real_key, imag_key = jax.random.split(key, 3)
    nu, theta = init_rotation(parameterisation, rotation_key, units)
    kernel = lecun_normal()
    return RTUParameters(
        nu, theta, kernel(real_key, (inputs, units)), kernel(imag_key, (inputs, units))
    )
