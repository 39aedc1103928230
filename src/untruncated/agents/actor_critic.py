"""The agent of the RTU paper's control experiments: encoder, memory, actor and critic.

RTU paper, Appendix H and Figure 21.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import orthogonal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.agents.memories import Memory
from untruncated.agents.policies import Policy

ENCODED = 64
HIDDEN = 64


class Dense(NamedTuple):
    """Weights of shape (inputs, outputs) and a bias."""

    kernel: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]


class Parameters(NamedTuple):
    """Of the encoder, of the memory, and two layers each of actor and critic.

    `log_std` is the logarithm of a real action's standard deviation, None for discrete ones.
    """

    encoder: Dense
    memory: Any
    actor_hidden: Dense
    actor: Dense
    critic_hidden: Dense
    critic: Dense
    log_std: Float[Array, " action"] | None


@dataclass(frozen=True)
class ActorCritic:
    """Dense → tanh → memory → two heads, each Dense → tanh → Dense.

    Kernels start orthogonal, scaled by √2 in the encoder, 2 in the heads' hidden layers, 0.01 in
    the actor's and 1 in the critic's last one; biases start at zero.
    """

    observation_size: int
    memory: Memory
    policy: Policy

    def init(self, key: PRNGKeyArray) -> Parameters:
        """Draws the initial parameters."""
        keys = jax.random.split(key, 6)
        features = self.memory.feature_size
        return Parameters(
            encoder=_dense(keys[0], self.observation_size, ENCODED, 2**0.5),
            memory=self.memory.init(keys[1]),
            actor_hidden=_dense(keys[2], features, HIDDEN, 2.0),
            actor=_dense(keys[3], HIDDEN, self.policy.outputs, 0.01),
            critic_hidden=_dense(keys[4], features, HIDDEN, 2.0),
            critic=_dense(keys[5], HIDDEN, 1, 1.0),
            log_std=self.policy.log_std(),
        )

    def encode(
        self, params: Parameters, observation: Float[Array, "*batch observation"]
    ) -> Float[Array, "*batch encoded"]:
        """What the memory sees of an observation."""
        return jnp.tanh(_apply(params.encoder, observation))

    def act(
        self, params: Parameters, features: Float[Array, "*batch features"]
    ) -> Float[Array, "*batch outputs"]:
        """The actor's outputs: logits, or the mean of a real action."""
        return _apply(params.actor, jnp.tanh(_apply(params.actor_hidden, features)))

    def value(
        self, params: Parameters, features: Float[Array, "*batch features"]
    ) -> Float[Array, "*batch"]:
        """The critic's estimate of the return."""
        return _apply(params.critic, jnp.tanh(_apply(params.critic_hidden, features)))[..., 0]

    def constrain(self, params: Parameters) -> Parameters:
        """The nearest allowed parameters."""
        return params._replace(memory=self.memory.constrain(params.memory))


def _dense(key: PRNGKeyArray, inputs: int, outputs: int, scale: float) -> Dense:
    return Dense(orthogonal(scale)(key, (inputs, outputs)), jnp.zeros(outputs))


def _apply(layer: Dense, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
    return x @ layer.kernel + layer.bias
