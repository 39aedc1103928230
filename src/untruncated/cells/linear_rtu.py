"""The linear recurrent trace unit (RTU): a complex diagonal recurrence, activation after it."""

from dataclasses import dataclass

from jaxtyping import Array, Float

from untruncated.cells import complex_traces as traces_of
from untruncated.cells import rollout_gradients
from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.complex_traces import ComplexGradient, ComplexState, ComplexTraces
from untruncated.cells.rotation import Rotation
from untruncated.cells.rtu import RTU, RTUParameters


@dataclass(frozen=True)
class LinearRTU(RTU):
    """h' = λ h + γ W x in complex form, features f([h1; h2]). RTU paper, Eq. 2."""

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
        return self.from_complex(derived, traces_of.contract(traces, state, cotangent))

    def pull_back(
        self, derived: Rotation, after: ComplexState, cotangent: ComplexState
    ) -> ComplexState:
        return rollout_gradients.linear_pull_back(derived.g, derived.phi, cotangent)

    def immediate_gradient(
        self,
        params: RTUParameters,
        derived: Rotation,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, "steps inputs"],
        cotangents: ComplexState,
    ) -> ComplexGradient:
        return rollout_gradients.linear_immediate_gradient(derived.gamma, before, x, cotangents)

    def trace_gradient(self, traces: ComplexTraces, cotangent: ComplexState) -> ComplexGradient:
        return rollout_gradients.linear_trace_gradient(traces, cotangent)

    def parameter_gradient(
        self,
        params: RTUParameters,
        derived: Rotation,
        gradient: ComplexGradient,
        states: ComplexState,
        cotangents: ComplexState,
    ) -> RTUParameters:
        log_scale = rollout_gradients.scale_gradient(states, cotangents)
        return self.from_complex(derived, gradient._replace(log_scale=log_scale))
