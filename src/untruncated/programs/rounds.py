"""Time of several computations, measured side by side, in rounds that all of them take part in."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Turn = Callable[[], object]


class Rounds(NamedTuple):
    """Rounds done, and the seconds that each computation took in each."""

    step: Int[Array, ""]
    seconds: Float[Array, "turns rounds"]


def no_rounds(turns: int, rounds: int) -> Rounds:
    """Before the first round."""
    return Rounds(jnp.zeros((), jnp.int32), jnp.zeros((turns, rounds)))


def one_more_round(rounds: Rounds, turns: Sequence[Turn]) -> Rounds:
    """Measures every computation once, which must have been compiled and run before.

    Rounds begin with another computation each, so that whatever slows the machine down for a while
    slows all of them. On a CPU the time is the process's own, not the clock's, which other
    processes would disturb.
    """
    number = int(rounds.step)
    seconds = np.array(rounds.seconds)
    for place in range(len(turns)):
        turn = (place + number) % len(turns)
        seconds[turn, number] = _seconds(turns[turn])
    return Rounds(rounds.step + 1, jnp.asarray(seconds))


def _seconds(turn: Turn) -> float:
    clock = time.process_time if jax.default_backend() == "cpu" else time.perf_counter
    start = clock()
    turn()
    return clock() - start
