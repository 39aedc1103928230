"""Illegal actions as errors, for debugging."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax.experimental import checkify
from jaxtyping import Array, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.wrapper import Wrapper


@dataclass(frozen=True)
class CheckActions(Wrapper):
    """Checks that a discrete action is one of the actions, and a real one within its bounds.

    The code that steps must be transformed by `jax.experimental.checkify.checkify`, whose
    `error.throw()` then raises for an illegal action. Without this wrapper such an action goes
    unnoticed.
    """

    def reset(self, key: PRNGKeyArray) -> tuple[Any, TimeStep]:
        return self.environment.reset(key)

    def step(self, state: Any, action: Array) -> tuple[Any, TimeStep]:
        if self.actions is None:
            checkify.check(
                jnp.all(jnp.abs(action) <= self.action_bound),
                f"illegal action {{action}}: not within ±{self.action_bound}",
                action=action,
            )
        else:
            checkify.check(
                jnp.all((action >= 0) & (action < self.actions)),
                "illegal action {action}: the actions are 0 to " + str(self.actions - 1),
                action=action,
            )
        return self.environment.step(state, action)
