"""What an actor's outputs mean: a categorical or a diagonal Gaussian distribution of actions."""

import math
from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

Action = Array
LogStd = Float[Array, " action"] | None


class Policy(Protocol):
    """The distribution of an action, from the actor's outputs (`logits`, or means) and `log_std`.

    All methods take one step's outputs or a batch of them.
    """

    outputs: int

    def log_std(self) -> LogStd:
        """The learned parameter besides the network's, before the first update."""

    def sample(self, key: PRNGKeyArray, outputs: Array, log_std: LogStd) -> Action:
        """Draws an action."""

    def mode(self, outputs: Array) -> Action:
        """The likeliest action."""

    def log_prob(self, outputs: Array, log_std: LogStd, action: Action) -> Array:
        """The logarithm of an action's probability, or density."""

    def entropy(self, outputs: Array, log_std: LogStd) -> Array:
        """In nats."""


@dataclass(frozen=True)
class Categorical:
    """One of `outputs` actions."""

    outputs: int

    def log_std(self) -> LogStd:
        return None

    def sample(
        self, key: PRNGKeyArray, outputs: Float[Array, "*batch actions"], log_std: LogStd
    ) -> Int[Array, "*batch"]:
        return jax.random.categorical(key, outputs)

    def mode(self, outputs: Float[Array, "*batch actions"]) -> Int[Array, "*batch"]:
        return jnp.argmax(outputs, axis=-1)

    def log_prob(
        self,
        outputs: Float[Array, "*batch actions"],
        log_std: LogStd,
        action: Int[Array, "*batch"],
    ) -> Float[Array, "*batch"]:
        logs = jax.nn.log_softmax(outputs)
        return jnp.take_along_axis(logs, action[..., None], axis=-1)[..., 0]

    def entropy(
        self, outputs: Float[Array, "*batch actions"], log_std: LogStd
    ) -> Float[Array, "*batch"]:
        logs = jax.nn.log_softmax(outputs)
        return -jnp.sum(jnp.exp(logs) * logs, axis=-1)


@dataclass(frozen=True)
class DiagonalGaussian:
    """`outputs` real numbers with a standard deviation each, which no state changes.

    What is drawn may be beyond the environment's bound; the environment clips what it carries out,
    and the probability is that of what was drawn.
    """

    outputs: int

    def log_std(self) -> LogStd:
        return jnp.zeros(self.outputs)

    def sample(
        self, key: PRNGKeyArray, outputs: Float[Array, "*batch action"], log_std: LogStd
    ) -> Float[Array, "*batch action"]:
        return outputs + jnp.exp(log_std) * jax.random.normal(key, outputs.shape, outputs.dtype)

    def mode(self, outputs: Float[Array, "*batch action"]) -> Float[Array, "*batch action"]:
        return outputs

    def log_prob(
        self,
        outputs: Float[Array, "*batch action"],
        log_std: LogStd,
        action: Float[Array, "*batch action"],
    ) -> Float[Array, "*batch"]:
        distance = (action - outputs) * jnp.exp(-log_std)
        each = -0.5 * distance**2 - log_std - 0.5 * math.log(2 * math.pi)
        return jnp.sum(each, axis=-1)

    def entropy(
        self, outputs: Float[Array, "*batch action"], log_std: LogStd
    ) -> Float[Array, "*batch"]:
        each = log_std + 0.5 * (1 + math.log(2 * math.pi))
        return jnp.broadcast_to(jnp.sum(each), outputs.shape[:-1])
