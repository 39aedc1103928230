"""Battleship: shoot at a hidden board; the only news is whether the last shot hit."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import one_hot
from untruncated.environments.popgym.rendering import board, side_by_side
from untruncated.environments.protocol import TimeStep, first_time_step

SHIPS = (2, 3, 3, 4)
SHIP_CELLS = sum(SHIPS)


class State(NamedTuple):
    """The board after a step; cells are numbered row by row.

    Attributes:
        ships: cells with a ship.
        shot: cells that were shot at.
        hits: number of hits.
        hit: whether the last shot was one.
        t: steps made.
    """

    ships: Bool[Array, " cells"]
    shot: Bool[Array, " cells"]
    hits: Int32[Array, ""]
    hit: Bool[Array, ""]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class Battleship:
    """Reward 1/12 for a hit, -1/(cells - 12) for a miss; a second shot at a cell is a miss.

    The package's action is a pair (row, column); here it is one number, row · size + column.
    """

    size: int = 8

    observation_size = 2

    @property
    def actions(self) -> int:
        return self.size**2

    @property
    def longest(self) -> int:
        return self.size**2

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        ships = jnp.zeros((self.size, self.size), bool)
        for length, ship_key in zip(SHIPS, jax.random.split(key, len(SHIPS)), strict=True):
            ships = self._placed(ships, length, ship_key)
        shot = jnp.zeros(self.actions, bool)
        no = jnp.zeros((), bool)
        state = State(ships.reshape(-1), shot, jnp.int32(0), no, jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def _placed(
        self, ships: Bool[Array, "size size"], length: int, key: PRNGKeyArray
    ) -> Bool[Array, "size size"]:
        """The board with one ship more, uniform over all places that are free for it.

        The package draws start, axis and direction until they fit, which is the same law: two
        draws, one from each end, give the same place.
        """
        # Whether a ship whose top left end lies here fits: across, then down.
        free = ~ships
        fits = jnp.stack([_runs(free, length), _runs(free.T, length).T])
        order = jnp.cumsum(fits.reshape(-1))
        chosen = jax.random.randint(key, (), 0, order[-1])
        place = jnp.sum(order <= chosen)
        axis, cell = place // self.actions, place % self.actions
        row, column = cell // self.size, cell % self.size
        rows, columns = jnp.indices((self.size, self.size))
        along = jnp.where(axis == 0, columns - column, rows - row)
        across = jnp.where(axis == 0, rows - row, columns - column)
        return ships | ((across == 0) & (along >= 0) & (along < length))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        target = jnp.arange(self.actions, dtype=jnp.int32) == action
        hit = jnp.any(target & state.ships & ~state.shot)
        state = State(state.ships, state.shot | target, state.hits + hit, hit, state.t + 1)
        miss = jnp.float32(-1 / (self.actions - SHIP_CELLS))
        reward = jnp.where(hit, jnp.float32(1 / SHIP_CELLS), miss)
        terminated, truncated = state.hits == SHIP_CELLS, state.t >= self.longest
        return state, TimeStep(self._observation(state), reward, terminated, truncated)

    def raw_observation(self, state: State) -> Bool[Array, ""]:
        """Whether the last shot hit."""
        return state.hit

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        return jnp.argmax(state.ships & ~state.shot).astype(jnp.int32)

    def render(self, state: State) -> str:
        names = {(True, False): "■", (True, True): "✗", (False, False): "·", (False, True): "○"}
        cells = zip(state.ships.tolist(), state.shot.tolist(), strict=True)
        truth = board([names[cell] for cell in cells], self.size)
        seen = "no shot yet" if state.t == 0 else "a hit" if state.hit else "a miss"
        return side_by_side([seen], truth)

    def _observation(self, state: State) -> Array:
        return one_hot((state.hit.astype(jnp.int32), 2))


def _runs(free: Bool[Array, "size size"], length: int) -> Bool[Array, "size size"]:
    """Where `length` free cells start in a row, to the right."""
    size = free.shape[1]
    padded = jnp.pad(free, ((0, 0), (0, length - 1)))
    return jnp.all(jnp.stack([padded[:, i : i + size] for i in range(length)]), axis=0)


LEVELS = {"Easy": Battleship(8), "Medium": Battleship(10), "Hard": Battleship(12)}
