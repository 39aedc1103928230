"""What a program gets that learns at several step sizes and from several seeds: a made-up one."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.programs.curves import Timeline, curve_metrics
from untruncated.programs.divergence import first_divergence
from untruncated.programs.step_sizes_and_seeds import MEMBER_AXES, StepSizesAndSeeds
from untruncated.running.runner import run

SPEC = {"program": "climb"}


class Carry(NamedTuple):
    step: Any
    step_sizes: Any
    places: Any
    height: Any
    diverged_at: Any


@dataclass(frozen=True, eq=False, kw_only=True)
class Climb(StepSizesAndSeeds):
    """Every member climbs by its step size from its seed on, and falls off above `top`."""

    reason = "it fell off"

    top: float

    @property
    def timeline(self):
        return Timeline(self.total_steps, self.members, most_bins=10)

    def first_carry(self, seeds, step_sizes):
        return Carry(
            step=jnp.zeros((), jnp.int32),
            step_sizes=step_sizes,
            places=self.at_every_step_size(seeds.astype(float)),
            height=self.no_curve(),
            diverged_at=self.none_diverged(),
        )

    def advance(self, carry):
        times = carry.step + jnp.arange(self.chunk_steps)
        moves = (times - carry.step + 1)[:, None, None] * carry.step_sizes[:, None]
        heights = carry.places + moves
        heights = jnp.where(heights > self.top, jnp.inf, heights)
        return Carry(
            carry.step + self.chunk_steps,
            carry.step_sizes,
            heights[-1],
            self.timeline.record(carry.height, heights, carry.step),
            first_divergence(carry.diverged_at, heights, times),
        )

    def metrics(self, carry):
        curve = np.asarray(carry.height) / self.timeline.bin_steps
        return curve_metrics("height", self.known(carry, curve), MEMBER_AXES)


def _climb(top=1000.0, **more):
    given = {
        "step_sizes": [1.0, 10.0],
        "seeds": [7, 100, 3],
        "total_steps": 20,
        "choices": {},
        "operations": 1,
    }
    return Climb(**given | more, top=top)


def test_a_member_for_every_step_size_and_seed(tmp_path):
    program = _climb()
    assert (program.members, program.shape, program.unit) == (6, (2, 3), "steps")
    result = run(program, SPEC, tmp_path / "runs" / "a.json", progress=False)
    assert result.axes == {
        "step_size": [1.0, 10.0],
        "seed": [7, 100, 3],
        "curve_step": list(range(2, 21, 2)),
    }
    curve = result.metrics["height_curve"]
    assert curve.axes == ("step_size", "seed", "curve_step")
    # a bin of two steps: the mean of a ladder's rungs 2k + 1 and 2k + 2
    rungs = 2 * np.arange(10) + 1.5
    expected = np.array([7, 100, 3])[:, None] + np.array([1, 10])[:, None, None] * rungs
    np.testing.assert_allclose(curve.values, expected, rtol=1e-6)
    np.testing.assert_allclose(result.metrics["height"].values, expected.mean(-1), rtol=1e-6)
    assert result.metrics["height_last_tenth"].axes == ("step_size", "seed")
    assert result.diverged == []


def test_who_diverges_is_told_by_step_size_and_seed_and_known_until_then(tmp_path):
    program = _climb(top=150.0, total_steps=20)
    result = run(program, SPEC, tmp_path / "runs" / "a.json", progress=False)
    # 100 + 10 · 5 is on the top; so is 7 + 10 · 14 below it, and one step more is not
    reason = "it fell off"
    assert result.diverged == [
        {"step_size": 10.0, "seed": 7, "step": 14, "reason": reason},
        {"step_size": 10.0, "seed": 100, "step": 5, "reason": reason},
        {"step_size": 10.0, "seed": 3, "step": 14, "reason": reason},
    ]
    lost = np.isnan(result.metrics["height_curve"].values)
    assert not lost[0].any()
    assert lost[1].sum(axis=-1).tolist() == [3, 8, 3]
    assert np.isnan(result.metrics["height"].values).tolist() == [[False] * 3, [True] * 3]


def test_values_beside_those_of_a_curve_are_lost_with_it():
    program = _climb(total_steps=20)
    diverged_at = program.none_diverged().at[1, 2].set(5)
    carry = program.init()._replace(diverged_at=diverged_at)
    known = program.known(carry, np.zeros((2, 3, 10, 4)))
    assert np.isnan(known[1, 2, 2:]).all() and np.isnan(known).sum() == 8 * 4


@pytest.mark.parametrize("seeds", [[7, 100, 3], [5, 6, 8]])
def test_a_seed_starts_alike_at_every_step_size(seeds):
    places = np.asarray(_climb(seeds=seeds).init().places)
    np.testing.assert_array_equal(places, [seeds, seeds])
