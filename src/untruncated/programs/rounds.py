"""Time of several computations, measured side by side, in rounds that all of them take part in."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


class InRounds:
    """What programs that measure time share: a step is a round, in which everyone has its turn.

    A subclass has the fields of a `programs.protocol.Program`, says how many `members` have a turn
    and makes their `turns`, compiled and run once.
    """

    total_steps: int
    unit: str = "rounds"
    chunk_steps: int = 1

    @property
    def members(self) -> int:
        """How many have a turn."""
        raise NotImplementedError

    @property
    def turns(self) -> list[Turn]:
        """One compiled call for each member."""
        raise NotImplementedError

    @property
    def axes(self) -> dict[str, list]:
        return {"agent": list(range(self.members)), "repeat": list(range(self.total_steps))}

    def init(self) -> Rounds:
        return no_rounds(self.members, self.total_steps)

    def advance(self, carry: Rounds) -> Rounds:
        return one_more_round(carry, self.turns)

    def diverged(self, carry: Rounds) -> list[dict[str, Any]]:
        return []


def _seconds(turn: Turn) -> float:
    clock = time.process_time if jax.default_backend() == "cpu" else time.perf_counter
    start = clock()
    turn()
    return clock() - start
