"""True resets beside Brax's cached ones: environment steps per CPU-second, on one core.

Both restart by themselves at the end of an episode, ours with a reset of its own for each. Episodes
have 100 steps at most, so that ends are not rare. Actions are random and drawn beforehand.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing import Program, median_cpu_seconds
from untruncated.environments.brax_environment import BACKEND
from untruncated.environments.brax_pomdp import UNSEEN, BraxPOMDP
from untruncated.environments.quiet_brax import envs, quiet
from untruncated.environments.reacher_pomdp import ReacherPOMDP
from untruncated.environments.wrappers import AutoReset, VectorisedAutoReset

LENGTH, STEPS, ROUNDS = 100, {1: 512, 16: 128}, 7


def _scanned(step: Any, state: Any, shape: tuple[int, ...]) -> Program:
    """One compiled scan; `step` gives the next state, and numbers of which the sum is kept."""
    actions = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, shape), jnp.float32)

    @jax.jit
    def advance(state: Any) -> Any:
        def body(carry: Any, action: Any) -> tuple[Any, None]:
            state, total = carry
            state, numbers = step(state, action)
            return (state, total + numbers), None

        return jax.lax.scan(body, (state, jnp.float32(0)), actions)[0]

    now = {"state": state}

    def call() -> Any:
        # Goes on from where the last call ended, so that episodes fall out of step.
        now["state"], total = advance(now["state"])
        return total

    return Program(call, float(np.prod(shape[:-1])))


def brax_program(robot: str, copies: int) -> Program:
    """Brax's environment in its own wrappers."""
    key = jax.random.PRNGKey(0)  # Brax's wrappers count the axes of old-style keys
    with quiet():
        if copies == 1:
            environment = envs.create(robot, episode_length=LENGTH, backend=BACKEND)
        else:
            alone = envs.get_environment(robot, backend=BACKEND)
            environment = envs.training.wrap(alone, episode_length=LENGTH)
            key = jax.random.split(key, copies)

    def step(state: Any, action: Any) -> tuple[Any, Any]:
        state = environment.step(state, action)
        return state, jnp.sum(state.obs) + jnp.sum(state.reward) + jnp.sum(state.done)

    leading = (STEPS[copies],) if copies == 1 else (STEPS[copies], copies)
    state = jax.jit(environment.reset)(key)
    return _scanned(step, state, (*leading, environment.action_size))


def our_program(robot: str, copies: int) -> Program:
    """Ours, which keeps what an episode showed last as well."""
    fields = {"episode_length": LENGTH}
    game: Any = ReacherPOMDP(**fields) if robot == "reacher" else BraxPOMDP(name=robot, **fields)
    environment: Any = AutoReset(game) if copies == 1 else VectorisedAutoReset(game, copies)

    def step(state: Any, action: Any) -> tuple[Any, Any]:
        state, shown = environment.step(state, action)
        ended = jnp.sum(shown.terminated | shown.truncated)
        last = jnp.sum(shown.final_observation)
        return state, jnp.sum(shown.observation) + jnp.sum(shown.reward) + ended + last

    leading = (STEPS[copies],) if copies == 1 else (STEPS[copies], copies)
    state, _ = jax.jit(environment.reset)(jax.random.key(0))
    return _scanned(step, state, (*leading, game.action_size))


def report() -> None:
    """Prints one line per robot and number of copies."""
    print(f"\nBrax, episodes of at most {LENGTH} steps: thousand steps per CPU-second")
    print(f"{'robot':<14}{'copies':>6}{'cached':>10}{'true resets':>13}{'ratio':>7}")
    for robot in (*UNSEEN, "reacher"):
        for copies in STEPS:
            programs = {"brax": brax_program(robot, copies), "ours": our_program(robot, copies)}
            seconds = median_cpu_seconds(programs, ROUNDS)
            brax, ours = (1e-3 / seconds[name] for name in ("brax", "ours"))
            print(
                f"{robot:<14}{copies:>6}{brax:>10.1f}{ours:>13.1f}{ours / brax:>7.2f}", flush=True
            )
