"""What an online gradient estimator is: one step of a cell, and a way back to its parameters."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from jaxtyping import Array, Float

from untruncated.cells.protocol import Derived, Features, Parameters


class OnlineStep(NamedTuple):
    """The carry for the next step, the features of this one, and their pullback.

    `pullback` takes a loss's derivatives with respect to the features and returns its gradient
    with respect to the cell's parameters, through as much of the past as the estimator covers.
    """

    carry: Any
    features: Features
    pullback: Callable[[Features], Parameters]


class OnlineGradient(Protocol):
    """How a gradient crosses time when parameters are updated at every step."""

    def init(self) -> Any:
        """The carry before the first input."""

    def step(
        self, params: Parameters, derived: Derived, carry: Any, x: Float[Array, " inputs"]
    ) -> OnlineStep:
        """Moves one input ahead. `derived` must be `cell.derive(params)`."""
