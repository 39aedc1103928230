"""What every POPGym environment offers beside `reset` and `step`."""

from typing import Any, Protocol

from jaxtyping import Array, PyTree

from untruncated.environments.protocol import Environment


class Game(Environment, Protocol):
    """An environment with one of the levels Easy, Medium and Hard as its constants.

    An action outside its range raises no error; what it does is not defined.
    `wrappers.CheckActions` raises one, for debugging. A step after the end of an episode is not
    defined either.
    """

    @property
    def observation_size(self) -> int:
        """Number of features of the flattened one-hot observation."""
        ...

    @property
    def actions(self) -> int | None:
        """Number of discrete actions; None if the action is a real vector.

        In that case `action_size` says how many numbers it has, and `action_bound` how far from 0
        they may be.
        """
        ...

    @property
    def longest(self) -> int:
        """Steps of the longest possible episode."""
        ...

    def raw_observation(self, state: Any) -> PyTree:
        """What the package's environment shows in this state, before any flattening."""
        ...

    def optimal_action(self, state: Any) -> Array:
        """A best action, with what is hidden known. Missing where none is known."""
        ...

    def render(self, state: Any) -> str:
        """What the agent sees, beside the true state. Needs a concrete state, outside of jit."""
        ...
