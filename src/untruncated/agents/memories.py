"""What an agent remembers with, in a rollout and when it learns from one.

A memory turns the encoded observations of a rollout into features, one step at a time. When the
agent learns, `replay` makes the features of some steps again, with today's parameters, so that
their gradient reaches the memory's parameters: by traces through the whole past (RTRL), or through
a window of some steps (truncated BPTT).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from untruncated.cells.protocol import Cell, Derived, Features, Parameters, State
from untruncated.cells.rollout_gradients import RolloutCell
from untruncated.estimators.online.traces import TraceCarry, initial_carry
from untruncated.estimators.rollout.stale_traces import (
    RecomputedTraces,
    StoredTraces,
    stale_step,
)


class Remembered(NamedTuple):
    """What a rollout keeps of a memory, with a leading axis of steps.

    `entering` is of the memory before each step, zero where an episode begins; `after` the cell's
    state after it.
    """

    entering: Any
    after: Any


class Memory(Protocol):
    """Pure functions of pytrees; `unit` is the number of consecutive steps learned from at once."""

    unit: int

    @property
    def feature_size(self) -> int:
        """Number of features."""

    def init(self, key: PRNGKeyArray) -> Parameters:
        """Draws initial parameters."""

    def derive(self, params: Parameters) -> Derived:
        """What is computed once per update of the parameters."""

    def constrain(self, params: Parameters) -> Parameters:
        """The nearest allowed parameters."""

    def initial_carry(self) -> Any:
        """What is carried into an episode's first step: zeros."""

    def step(
        self, params: Parameters, derived: Derived, carry: Any, x: Float[Array, " inputs"]
    ) -> tuple[Any, Float[Array, " features"]]:
        """Moves one step ahead."""

    def remember(self, entering: Any, after: Any) -> Remembered:
        """What is kept of a step, from what is carried into and out of it."""

    def features_after(
        self, params: Parameters, derived: Derived, after: Any, x: Float[Array, "steps inputs"]
    ) -> Float[Array, "steps features"]:
        """The features of one step more, from the states in `Remembered.after`."""

    def past(
        self,
        params: Parameters,
        start: Any,
        remembered: Remembered,
        x: Float[Array, "steps inputs"],
        fresh: Bool[Array, " steps"],
    ) -> Any:
        """What `replay` needs of a rollout that these parameters made, `start` carried into it."""

    def replay(
        self,
        params: Parameters,
        derived: Derived,
        past: Any,
        index: Int[Array, "units unit"],
        x: Float[Array, "units unit inputs"],
    ) -> Float[Array, "units unit features"]:
        """The features of the steps `index`, made with today's parameters and inputs."""


@dataclass(frozen=True)
class _Recurrent:
    """What memories of a recurrent cell share."""

    cell: Cell

    @property
    def feature_size(self) -> int:
        return sum(self.cell.feature_sizes)

    def init(self, key: PRNGKeyArray) -> Parameters:
        return self.cell.init(key)

    def derive(self, params: Parameters) -> Derived:
        return self.cell.derive(params)

    def constrain(self, params: Parameters) -> Parameters:
        return self.cell.constrain(params)

    def features_after(
        self, params: Parameters, derived: Derived, after: State, x: Float[Array, "steps inputs"]
    ) -> Float[Array, "steps features"]:
        return self._features(params, _ahead(self.cell, params, derived, after, x), x)

    def _features(self, params: Parameters, states: State, x: Array) -> Array:
        return _joined(jax.vmap(partial(self.cell.features, params))(states, x))


@dataclass(frozen=True)
class TraceMemory(_Recurrent):
    """A cell whose gradient reaches the whole past by traces that are as old as the rollout.

    `storage` is "stored", which keeps the traces of every step, or "recompute", which goes back
    through the rollout for every minibatch instead, with the same gradient and far less memory.
    """

    cell: RolloutCell
    storage: str = "recompute"
    unit: int = 1

    def __post_init__(self) -> None:
        if self.storage not in ("stored", "recompute"):
            raise ValueError(f"storage must be 'stored' or 'recompute', not {self.storage!r}")

    def initial_carry(self) -> TraceCarry:
        return initial_carry(self.cell)

    def step(
        self, params: Parameters, derived: Derived, carry: TraceCarry, x: Float[Array, " inputs"]
    ) -> tuple[TraceCarry, Float[Array, " features"]]:
        cell = self.cell
        state = cell.step(params, derived, carry.state, cell.drive(params, derived, x))
        traces = cell.advance(params, derived, carry.traces, carry.state, state, x)
        return TraceCarry(state, traces), _joined(cell.features(params, state, x))

    def remember(self, entering: TraceCarry, after: TraceCarry) -> Remembered:
        kept = entering if self.storage == "stored" else entering._replace(traces=())
        return Remembered(kept, after.state)

    def past(
        self,
        params: Parameters,
        start: TraceCarry,
        remembered: Remembered,
        x: Float[Array, "steps inputs"],
        fresh: Bool[Array, " steps"],
    ) -> StoredTraces | RecomputedTraces:
        before, traces = remembered.entering
        if self.storage == "stored":
            return StoredTraces(before, traces)
        derived = self.cell.derive(params)
        return RecomputedTraces(before, remembered.after, x, fresh, params, derived, start.traces)

    def replay(
        self,
        params: Parameters,
        derived: Derived,
        past: StoredTraces | RecomputedTraces,
        index: Int[Array, "units unit"],
        x: Float[Array, "units unit inputs"],
    ) -> Float[Array, "units unit features"]:
        states = stale_step(self.cell, params, derived, past, index[:, 0], x[:, 0])
        return self._features(params, states, x[:, 0])[:, None]


class Window(NamedTuple):
    """States that entered the steps of a rollout, and which steps begin an episode."""

    before: State
    fresh: Bool[Array, " steps"]


@dataclass(frozen=True)
class WindowMemory(_Recurrent):
    """A cell whose gradient reaches back to the start of a window of `unit` steps.

    A window starts from the state that entered its first step in the rollout. RTU paper, Section 5.
    """

    unit: int = 1

    def initial_carry(self) -> State:
        return self.cell.initial_state()

    def step(
        self, params: Parameters, derived: Derived, carry: State, x: Float[Array, " inputs"]
    ) -> tuple[State, Float[Array, " features"]]:
        state = self.cell.step(params, derived, carry, self.cell.drive(params, derived, x))
        return state, _joined(self.cell.features(params, state, x))

    def remember(self, entering: State, after: State) -> Remembered:
        return Remembered(entering, after)

    def past(
        self, params: Parameters, start: State, remembered: Remembered, x: Array, fresh: Array
    ) -> Window:
        return Window(remembered.entering, fresh)

    def replay(
        self,
        params: Parameters,
        derived: Derived,
        past: Window,
        index: Int[Array, "units unit"],
        x: Float[Array, "units unit inputs"],
    ) -> Float[Array, "units unit features"]:
        zero = self.initial_carry()
        starts = jax.tree.map(lambda leaf: leaf[index[:, 0]], past.before)
        drives = jax.tree.map(
            lambda leaf: jnp.swapaxes(leaf, 0, 1), self.cell.drive(params, derived, x)
        )

        def step(states: State, inputs: tuple) -> tuple[State, State]:
            drive, fresh = inputs

            def one(state: State, drive: Any, fresh: Array) -> State:
                state = jax.tree.map(partial(jnp.where, fresh), zero, state)
                return self.cell.step(params, derived, state, drive)

            states = jax.vmap(one)(states, drive, fresh)
            return states, states

        _, states = jax.lax.scan(step, starts, (drives, past.fresh[index].T))
        states = jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), states)
        return jax.vmap(partial(self._features, params))(states, x)


def _ahead(cell: Cell, params: Parameters, derived: Derived, states: State, x: Array) -> State:
    """Each state one step ahead, with an input of its own."""
    return jax.vmap(partial(cell.step, params, derived))(states, cell.drive(params, derived, x))


def _joined(features: Features) -> Float[Array, "*batch features"]:
    return jnp.concatenate(features, axis=-1)
