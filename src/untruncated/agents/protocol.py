"""What an agent is that learns from one stream, at every step of it."""

from typing import Any, NamedTuple, Protocol

from jaxtyping import Array, Float, Int, PRNGKeyArray


class Inputs(NamedTuple):
    """What an agent's steps take besides its state and the step size, time first.

    `own` comes of the agent's stream; what is `shared` is the same for all streams.
    """

    own: tuple[Array, ...]
    shared: tuple[Any, ...]


class OnlineLearner(Protocol):
    """It predicts the return, discounted by `discount`, of the cumulants of its stream."""

    discount: float

    def init(self, key: PRNGKeyArray) -> Any:
        """The learner before the first observation."""

    def first_past(self) -> Any:
        """What it needs of the stream before the first observation: an array of zeros, or ()."""

    def inputs(
        self,
        past: Any,
        observations: Float[Array, "steps inputs"],
        cumulants: Float[Array, " steps"],
        times: Int[Array, " steps"],
    ) -> tuple[Any, Inputs]:
        """The inputs of some steps, made of what these bring and of what it needs of the past.

        Returns:
            What it needs of the stream up to the last of these steps; the inputs.
        """

    def step(
        self, state: Any, *own_then_step_size_then_shared: Any
    ) -> tuple[Any, Float[Array, ""]]:
        """The state after a step, and the prediction that was made before its update.

        It is called with the state, a step's own inputs, the step size, its shared inputs.
        """
