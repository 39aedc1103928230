"""PositionOnlyCartPole: balance a pole without seeing how fast anything moves."""

from dataclasses import dataclass

from jaxtyping import Array, Float

from untruncated.environments.popgym.cartpole import POSITIONS, CartPole, State


@dataclass(frozen=True)
class PositionOnlyCartPole(CartPole):
    """Shows the cart's position in m and the pole's angle in rad."""

    def raw_observation(self, state: State) -> Float[Array, "2"]:
        return state.physics[POSITIONS]


LEVELS = {
    "Easy": PositionOnlyCartPole(200),
    "Medium": PositionOnlyCartPole(400),
    "Hard": PositionOnlyCartPole(600),
}
