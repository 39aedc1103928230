"""One episode as text: what was seen, what was true, what was done and what it paid."""

import inspect
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from untruncated.environments.popgym.protocol import Game
from untruncated.environments.protocol import TimeStep

POLICIES = ("random", "optimal")


class Moment(NamedTuple):
    """A state, and the action and the time step that led to it; a reset has no action."""

    state: Any
    shown: TimeStep
    action: Array | None


def introduction(game: Game) -> list[str]:
    """Lines for who has never seen this game: its rules, its actions, and what is printed."""
    rules = [inspect.getdoc(inspect.getmodule(type(game))), inspect.getdoc(type(game))]
    lines = [" ".join(text.split("\n\n")[0].splitlines()) for text in rules if text]
    if game.actions is None:
        actions = f"{game.action_size} real, within ±{game.action_bound}"
    else:
        actions = f"0 to {game.actions - 1}"
    words = "sees: all that the agent is shown; truth: what it would like to know"
    return [*lines, f"Actions: {actions}. {words}."]


def transcript(game: Game, policy: str, seed: int, steps: int | None = None) -> Iterator[str]:
    """The lines of one episode; after `steps` steps it breaks off, if it has not ended before.

    Args:
        game: the environment.
        policy: "random", or "optimal" for `game.optimal_action`.
        seed: what the episode and the random actions are drawn from.
        steps: None for the whole episode.

    Raises:
        ValueError: if the game has no known optimal policy, or `policy` is neither of the two.
    """
    return described(game, episode(game, policy, seed, steps))


def episode(game: Game, policy: str, seed: int, steps: int | None = None) -> Iterator[Moment]:
    """The moments of one episode, with NumPy arrays; for arguments and errors see `transcript`."""
    if policy not in POLICIES:
        raise ValueError(f"policy must be {' or '.join(POLICIES)}, not {policy!r}")
    if policy == "optimal" and not hasattr(game, "optimal_action"):
        raise ValueError(f"no optimal policy of {type(game).__name__} is known: take random")
    return _moments(game, policy, seed, steps)


def _moments(game: Game, policy: str, seed: int, steps: int | None) -> Iterator[Moment]:
    reset_key, actions_key = jax.random.split(jax.random.key(seed))
    state, shown = _reset(game, reset_key)
    yield Moment(*_concrete((state, shown)), None)
    for t in range(1, min(game.longest, steps or game.longest) + 1):
        if policy == "optimal":
            action = _optimal_action(game, state)
        else:
            action = _random_action(game, jax.random.fold_in(actions_key, t))
        state, shown = _step(game, state, action)
        yield Moment(*_concrete((state, shown, action)))
        if shown.terminated or shown.truncated:
            return


def described(game: Game, moments: Iterable[Moment]) -> Iterator[str]:
    """The lines of an episode: every moment, then how it ended."""
    total = 0.0
    for t, moment in enumerate(moments):
        if moment.action is None:
            head = "reset"
        else:
            reward = float(moment.shown.reward)
            total += reward
            head = f"step {t}: action {_named(moment.action)}, reward {reward:+.4f}"
        yield from _paragraph(head, game.render(moment.state))
    if moment.shown.terminated or moment.shown.truncated:
        how = "terminated" if moment.shown.terminated else "truncated"
        yield f"{how} after {t} steps, return {total:+.4f}"
    else:
        yield f"broken off after {t} steps, return so far {total:+.4f}"


# Compiled once per game, however many transcripts are made of it.
@partial(jax.jit, static_argnums=0)
def _reset(game: Game, key: PRNGKeyArray) -> tuple[Any, TimeStep]:
    return game.reset(key)


@partial(jax.jit, static_argnums=0)
def _step(game: Game, state: Any, action: Array) -> tuple[Any, TimeStep]:
    return game.step(state, action)


@partial(jax.jit, static_argnums=0)
def _optimal_action(game: Game, state: Any) -> Array:
    return game.optimal_action(state)


def _paragraph(head: str, rendered: str) -> Iterator[str]:
    """One line if it fits, else the head and what follows, indented."""
    if "\n" in rendered:
        yield head
        yield from (f"    {line}" for line in rendered.splitlines())
    else:
        yield f"{head:<36} {rendered}"


def _random_action(game: Game, key: PRNGKeyArray) -> Array:
    if game.actions is None:
        bound = game.action_bound
        return jax.random.uniform(key, (game.action_size,), minval=-bound, maxval=bound)
    return jax.random.randint(key, (), 0, game.actions)


def _named(action: Array) -> str:
    if action.ndim == 0:
        return str(int(action))
    return " ".join(f"{float(number):+.2f}" for number in action)


def _concrete(state: Any) -> Any:
    """NumPy arrays in the place of all but keys: they can be read one by one, fast."""

    def leaf(array: Array) -> Any:
        is_key = jnp.issubdtype(array.dtype, jax.dtypes.prng_key)
        return array if is_key else np.asarray(array)

    return jax.tree.map(leaf, state)
