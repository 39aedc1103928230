"""The linear recurrent unit (LRU) with an activation inside its recurrence."""

from dataclasses import dataclass

from jaxtyping import Array, Float

from untruncated.catalogue.cells import NonlinearLRUFields
from untruncated.cells import nonlinear_traces as traces_of
from untruncated.cells import rollout_gradients
from untruncated.cells.complex_traces import ComplexGradient, ComplexState
from untruncated.cells.lru_base import LRUBase, LRUDerived, LRUParameters
from untruncated.cells.nonlinear_traces import NonlinearTraces


@dataclass(frozen=True)
class NonlinearLRU(NonlinearLRUFields, LRUBase):
    """z' = f(λ z + exp(γ_log) B x) on real and imaginary part, features Re(C z) + D x.

    RTU paper, Section 4.1.
    """

    def step(
        self, params: LRUParameters, derived: LRUDerived, state: ComplexState, drive: ComplexState
    ) -> ComplexState:
        eigenvalues = derived.rotation
        return traces_of.step(self.activation, eigenvalues.g, eigenvalues.phi, state, drive)

    def features(
        self, params: LRUParameters, state: ComplexState, x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, " outputs"]]:
        return (self.read_out(params, state, x),)

    def initial_traces(self) -> NonlinearTraces:
        return traces_of.zero_traces(self.inputs, self.width)

    def advance(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        traces: NonlinearTraces,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, " inputs"],
    ) -> NonlinearTraces:
        (g, phi, *_), scale = derived
        return traces_of.advance(self.activation, g, phi, scale, traces, before, after, x)

    def contract(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        traces: NonlinearTraces,
        state: ComplexState,
        cotangent: ComplexState,
    ) -> LRUParameters:
        gradient = traces_of.contract(traces, params.b_real, params.b_imag, cotangent)
        return self.from_complex(params, derived, gradient)

    def pull_back(
        self, derived: LRUDerived, after: ComplexState, cotangent: ComplexState
    ) -> ComplexState:
        behind = rollout_gradients.slopes(self.activation, after, cotangent)
        return rollout_gradients.linear_pull_back(derived.rotation.g, derived.rotation.phi, behind)

    def immediate_gradient(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, "steps inputs"],
        cotangents: ComplexState,
    ) -> ComplexGradient:
        behind = rollout_gradients.slopes(self.activation, after, cotangents)
        return rollout_gradients.linear_immediate_gradient(derived.scale, before, x, behind)

    def trace_gradient(self, traces: NonlinearTraces, cotangent: ComplexState) -> ComplexGradient:
        return rollout_gradients.nonlinear_trace_gradient(traces, cotangent)

    def parameter_gradient(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        gradient: ComplexGradient,
        states: ComplexState,
        cotangents: ComplexState,
    ) -> LRUParameters:
        log_scale = rollout_gradients.scale_from_weights(gradient, params.b_real, params.b_imag)
        return self.from_complex(params, derived, gradient._replace(log_scale=log_scale))
