"""CountRecall as in the RTU paper's public code, which has two actions for all the counts."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Int, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import CARDS, COLOURS, RANKS, SUITS, win_or_lose
from untruncated.environments.popgym.count_recall import CountRecall, State
from untruncated.environments.protocol import TimeStep


@dataclass(frozen=True)
class CountRecallReference(CountRecall):
    """Only the counts 0 and 1 can be named. Reward ±1/n for each of n answers, for n cards.

    The count asked for leaves out the card on show, so the first answer is always 0. The last
    observation repeats the last cards. With perfect memory the mean return is -0.8490, -0.8504
    and -0.7636 at the three levels; nobody can earn more.
    """

    @property
    def actions(self) -> int:
        return 2

    @property
    def longest(self) -> int:
        return self.decks * CARDS

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        state, shown = super().reset(key)
        return state._replace(counts=jnp.zeros_like(state.counts)), shown

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        reward = win_or_lose(action == self._count(state), 1 / self.longest)
        counts = state.counts + self._counted(state.values[state.t])
        state = State(state.values, state.queries, counts, state.t + 1)
        terminated = state.t == self.longest
        return state, TimeStep(
            self._observation(state), reward, terminated, jnp.zeros_like(terminated)
        )

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        """The count if it can be named; if not, the answer is wrong in any case."""
        return jnp.minimum(self._count(state), 1)


LEVELS = {
    "Easy": CountRecallReference(1, COLOURS),
    "Medium": CountRecallReference(2, SUITS),
    "Hard": CountRecallReference(4, RANKS),
}
