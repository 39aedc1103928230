"""What an unrolled system is: parameters that act at every step, and a loss at every step.

An inner problem starts from `initial_state`, is unrolled for `horizon` steps with the outer
parameters θ, and starts anew; PES paper, Section 2.
"""

from typing import Any, Protocol

from jaxtyping import Array, Float, Int, PRNGKeyArray

Theta = Any
State = Any


class Problem(Protocol):
    """Pure functions of pytrees; an implementation holds its constants in a frozen dataclass.

    Leaves of a state that are not floating-point numbers are data: no derivative goes through
    them, and they do not count among the numbers of the state.

    All randomness comes from the keys, so particles that are given the same keys meet the same
    initial states and data.

    Attributes:
        horizon: T, steps of an inner problem; None if it never ends.
        unroll_loss: the loss of an unroll of several steps: the `sum` of the steps' losses; that
            of the `last` step; or `telescoped`, that of the last step less that of the unroll
            before, so that the unrolls of an inner problem add up to its final loss (PES paper,
            Appendix D).
        differentiable: whether derivatives of `unroll_step` with respect to θ and state are of use.
    """

    horizon: int | None
    unroll_loss: str
    differentiable: bool

    def initial_theta(self, key: PRNGKeyArray) -> Theta:
        """Draws the outer parameters that learning starts from: a pytree of floats."""

    def initial_state(self, key: PRNGKeyArray) -> State:
        """Draws the state before step 0, which does not depend on θ."""

    def unroll_step(
        self, theta: Theta, state: State, t: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[State, Float[Array, ""]]:
        """Step t = 0, 1, … of an inner problem: the next state, of the same shapes, and its loss.

        The loss is one to be minimised, in JAX's default float type.
        """
