"""The linear recurrent unit (LRU) of Orvieto et al. (2023), as one recurrent layer."""

from dataclasses import dataclass

from jaxtyping import Array, Float

from untruncated.catalogue.fidelity import Fidelity
from untruncated.cells import complex_traces as traces_of
from untruncated.cells import rollout_gradients
from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.complex_traces import ComplexGradient, ComplexState, ComplexTraces
from untruncated.cells.lru_base import LRUBase, LRUDerived, LRUParameters


@dataclass(frozen=True)
class LRU(LRUBase):
    """z' = λ z + exp(γ_log) B x, features f(Re(C z) + D x). RTU paper, Section 3.4.

    The fidelity "reference" adds γ_log xᵀ to the trace of B where exp(γ_log) xᵀ belongs, as the
    RTU paper's public code does. Whatever differentiates through `step` is exact all the same.

    Raises:
        ValueError: A field has a value that is not allowed.
    """

    fidelity: Fidelity = "exact"

    def step(
        self, params: LRUParameters, derived: LRUDerived, state: ComplexState, drive: ComplexState
    ) -> ComplexState:
        eigenvalues = derived.rotation
        real, imag = traces_of.rotate(eigenvalues.g, eigenvalues.phi, state.real, state.imag)
        return ComplexState(real + drive.real, imag + drive.imag)

    def features(
        self, params: LRUParameters, state: ComplexState, x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, " outputs"]]:
        return (ACTIVATIONS[self.activation].function(self.read_out(params, state, x)),)

    def initial_traces(self) -> ComplexTraces:
        return traces_of.zero_traces(self.inputs, self.width)

    def advance(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        traces: ComplexTraces,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, " inputs"],
    ) -> ComplexTraces:
        eigenvalues, scale = derived.rotation, self._trace_scale(params, derived)
        return traces_of.advance(eigenvalues.g, eigenvalues.phi, scale, traces, before, x)

    def contract(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        traces: ComplexTraces,
        state: ComplexState,
        cotangent: ComplexState,
    ) -> LRUParameters:
        return self.from_complex(params, derived, traces_of.contract(traces, state, cotangent))

    def pull_back(
        self, derived: LRUDerived, after: ComplexState, cotangent: ComplexState
    ) -> ComplexState:
        eigenvalues = derived.rotation
        return rollout_gradients.linear_pull_back(eigenvalues.g, eigenvalues.phi, cotangent)

    def immediate_gradient(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, "steps inputs"],
        cotangents: ComplexState,
    ) -> ComplexGradient:
        scale = self._trace_scale(params, derived)
        return rollout_gradients.linear_immediate_gradient(scale, before, x, cotangents)

    def trace_gradient(self, traces: ComplexTraces, cotangent: ComplexState) -> ComplexGradient:
        return rollout_gradients.linear_trace_gradient(traces, cotangent)

    def parameter_gradient(
        self,
        params: LRUParameters,
        derived: LRUDerived,
        gradient: ComplexGradient,
        states: ComplexState,
        cotangents: ComplexState,
    ) -> LRUParameters:
        log_scale = rollout_gradients.scale_gradient(states, cotangents)
        return self.from_complex(params, derived, gradient._replace(log_scale=log_scale))

    def _trace_scale(self, params: LRUParameters, derived: LRUDerived) -> Float[Array, " units"]:
        """What the input is multiplied by on its way into the trace of B."""
        return params.gamma_log if self.fidelity == "reference" else derived.scale
