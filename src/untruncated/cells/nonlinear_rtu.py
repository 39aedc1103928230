"""The nonlinear recurrent trace unit (RTU): the activation inside the recurrence."""

from dataclasses import dataclass

from jaxtyping import Array, Float

from untruncated.cells import nonlinear_traces as traces_of
from untruncated.cells import rollout_gradients
from untruncated.cells.complex_traces import ComplexGradient, ComplexState
from untruncated.cells.nonlinear_traces import NonlinearTraces
from untruncated.cells.rotation import Rotation
from untruncated.cells.rtu import RTU, RTUParameters


@dataclass(frozen=True)
class NonlinearRTU(RTU):
    """h' = f(λ h + γ W x) on real and imaginary part, features [h1; h2]. RTU paper, Eqs. 4, 32."""

    def step(
        self, params: RTUParameters, derived: Rotation, state: ComplexState, drive: ComplexState
    ) -> ComplexState:
        return traces_of.step(self.activation, derived.g, derived.phi, state, drive)

    def features(
        self, params: RTUParameters, state: ComplexState, x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
        return state.real, state.imag

    def initial_traces(self) -> NonlinearTraces:
        return traces_of.zero_traces(self.inputs, self.width)

    def advance(
        self,
        params: RTUParameters,
        derived: Rotation,
        traces: NonlinearTraces,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, " inputs"],
    ) -> NonlinearTraces:
        return traces_of.advance(
            self.activation, derived.g, derived.phi, derived.gamma, traces, before, after, x
        )

    def contract(
        self,
        params: RTUParameters,
        derived: Rotation,
        traces: NonlinearTraces,
        state: ComplexState,
        cotangent: ComplexState,
    ) -> RTUParameters:
        gradient = traces_of.contract(traces, params.w_real, params.w_imag, cotangent)
        return self.from_complex(derived, gradient)

    def pull_back(
        self, derived: Rotation, after: ComplexState, cotangent: ComplexState
    ) -> ComplexState:
        behind = rollout_gradients.slopes(self.activation, after, cotangent)
        return rollout_gradients.linear_pull_back(derived.g, derived.phi, behind)

    def immediate_gradient(
        self,
        params: RTUParameters,
        derived: Rotation,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, "steps inputs"],
        cotangents: ComplexState,
    ) -> ComplexGradient:
        behind = rollout_gradients.slopes(self.activation, after, cotangents)
        return rollout_gradients.linear_immediate_gradient(derived.gamma, before, x, behind)

    def trace_gradient(self, traces: NonlinearTraces, cotangent: ComplexState) -> ComplexGradient:
        return rollout_gradients.nonlinear_trace_gradient(traces, cotangent)

    def parameter_gradient(
        self,
        params: RTUParameters,
        derived: Rotation,
        gradient: ComplexGradient,
        states: ComplexState,
        cotangents: ComplexState,
    ) -> RTUParameters:
        log_scale = rollout_gradients.scale_from_weights(gradient, params.w_real, params.w_imag)
        return self.from_complex(derived, gradient._replace(log_scale=log_scale))
