"""Speed of POPGym's environments beside the package's: steps per CPU-second, on one core.

Both show what an agent sees: the one-hot observation with the last action appended, one-hot.
Both restart at the end of an episode. Actions are random and drawn beforehand.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import popgym.envs

from benchmarks.timing import Program, median_cpu_seconds
from untruncated.environments.popgym.registry import FAMILIES, make
from untruncated.environments.wrappers import AutoReset, LastActionAndReward, VectorisedAutoReset

COPIES, BATCH_STEPS, SINGLE_STEPS, PACKAGE_STEPS = 256, 1024, 100_000, 5000


def package_program(name: str) -> Program:
    """The package's environment, flattened by gymnasium."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Maze environments have been shown")
        environment = getattr(popgym.envs, name)()
    seen, acts = environment.observation_space, environment.action_space
    acts.seed(0)
    actions = [acts.sample() for _ in range(PACKAGE_STEPS)]
    environment.reset(seed=0)

    def call() -> None:
        for action in actions:
            observation, _, terminated, truncated, _ = environment.step(action)
            if terminated or truncated:
                observation, _ = environment.reset()
            np.concatenate(
                [
                    gymnasium.spaces.utils.flatten(seen, observation),
                    gymnasium.spaces.utils.flatten(acts, action),
                ]
            )

    return Program(call, PACKAGE_STEPS)


def our_program(game: Any, copies: int) -> Program:
    """One compiled scan; every number that is shown is used, in a sum, as an agent would use it."""
    game = LastActionAndReward(game, reward=False)
    environment: Any = AutoReset(game) if copies == 1 else VectorisedAutoReset(game, copies)
    shape = (SINGLE_STEPS,) if copies == 1 else (BATCH_STEPS, copies)
    rng = np.random.default_rng(0)
    if game.actions is None:
        actions = jnp.asarray(rng.uniform(-2, 2, (*shape, 1)), jnp.float32)
    else:
        actions = jnp.asarray(rng.integers(game.actions, size=shape), jnp.int32)
    state, first = jax.jit(environment.reset)(jax.random.key(0))

    @jax.jit
    def advance(carry: Any) -> Any:
        def step(carry: Any, action: Any) -> tuple[Any, None]:
            state, features, rewards = carry
            state, shown = environment.step(state, action)
            return (state, features + shown.observation, rewards + shown.reward), None

        return jax.lax.scan(step, carry, actions)[0]

    carry = {"now": (state, jnp.zeros_like(first.observation), jnp.zeros_like(first.reward))}

    def call() -> Any:
        # Goes on from where the last call ended, so that episodes fall out of step.
        carry["now"] = advance(carry["now"])
        return carry["now"]

    return Program(call, float(np.prod(shape)))


def report(families: Sequence[str] = tuple(FAMILIES)) -> None:
    """Prints one line per environment at level Easy."""
    print("POPGym, level Easy: steps per CPU-second, and times the package's")
    print(f"{'environment':<28}{'package':>9}{'1 copy':>11}{f'{COPIES} copies':>21}")
    for family in families:
        name = f"{family}Easy"
        seconds = median_cpu_seconds(
            {
                "package": package_program(name),
                "one": our_program(make(name), 1),
                "many": our_program(make(name), COPIES),
            }
        )
        package, one, many = (1 / seconds[key] for key in ("package", "one", "many"))
        print(
            f"{name:<28}{package / 1e3:>8.0f}k{one / 1e6:>10.2f}M{one / package:>6.0f}×"
            f"{many / 1e6:>12.2f}M{many / package:>6.0f}×",
            flush=True,
        )
