"""What a recurrent cell is: a frozen record of its static choices, and pure functions of pytrees.

A cell knows nothing of losses, environments or files. Its parameters, state and traces are pytrees;
its methods neither keep nor change anything, so they can be jitted, vmapped and differentiated.
"""

from typing import Any, Protocol

from jaxtyping import Array, Float, PRNGKeyArray

Parameters = Any
Derived = Any
State = Any
Drive = Any
Traces = Any
Features = tuple[Float[Array, "..."], ...]


class Cell(Protocol):
    """A recurrent cell with `inputs` real inputs and `width` units.

    The recurrence is split in two, so that whatever does not depend on the state can be computed
    for a whole window of inputs at once: `drive` is the input's contribution and `step` adds the
    state's. `derive` computes what the recurrence needs of the parameters (eigenvalues, say) once
    per parameter update; an online learner carries it through its scan, because a value computed
    inside the scan would be recomputed by XLA in each of its consumers.
    """

    inputs: int
    width: int

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        """Sizes of the arrays that `features` returns."""

    def init(self, key: PRNGKeyArray) -> Parameters:
        """Draws initial parameters, in JAX's default float type."""

    def initial_state(self) -> State:
        """The state before the first input: zeros."""

    def derive(self, params: Parameters) -> Derived:
        """What the recurrence needs of the parameters, computed once per update."""

    def drive(self, params: Parameters, derived: Derived, x: Float[Array, "*time inputs"]) -> Drive:
        """The input's contribution to the next state, for one input or a window of them."""

    def step(self, params: Parameters, derived: Derived, state: State, drive: Drive) -> State:
        """The next state, from the last one and one input's drive."""

    def features(self, params: Parameters, state: State, x: Float[Array, " inputs"]) -> Features:
        """What the next layer sees, as one or more arrays; `x` is the input of the same step."""

    def constrain(self, params: Parameters) -> Parameters:
        """The nearest allowed parameters; called after every update."""


class TraceCell(Cell, Protocol):
    """A cell whose units do not mix, so that exact RTRL costs no more than the forward pass.

    The traces are the derivatives of the present state with respect to the recurrent parameters.
    """

    def initial_traces(self) -> Traces:
        """Zeros: the initial state does not depend on the parameters."""

    def advance(
        self,
        params: Parameters,
        derived: Derived,
        traces: Traces,
        before: State,
        after: State,
        x: Float[Array, " inputs"],
    ) -> Traces:
        """The traces of `after = step(before, x)`, from those of `before`."""

    def contract(
        self,
        params: Parameters,
        derived: Derived,
        traces: Traces,
        state: State,
        cotangent: State,
    ) -> Parameters:
        """The gradient of a loss, from its `cotangent` on the state and the state's traces.

        Parameters that act after the state (a read-out) get zeros: ordinary backpropagation
        through `features` gives theirs.
        """
