"""The best any predictor can do on trace conditioning, exactly.

The Bayes-optimal prediction is the expected return given everything seen so far. Because trials
are independent, it depends only on the time since the last onset: of the CS while the US is still
to come, of the US afterwards. With `d` the discount, `I` and `J` the inter-stimulus and inter-trial
intervals, and `w` the US's duration, let

* `T = (1 + d + ... + d^(w-1)) + d^(J+1) G'` be the US and what follows, discounted to its onset;
* `G = d^(I-1) T` the return after a CS onset, and `G'` the same of the next trial.

`G` and `G'` have the same distribution, which closes the equations for the first two moments.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Float64, Int, Int32

from untruncated.environments.trace_conditioning import TraceConditioning


class OptimalValues(NamedTuple):
    """Bayes-optimal predictions, in the units of the return.

    Attributes:
        before_us: by steps since CS onset, given that the US has not come.
        after_us: by steps since US onset, given that the next CS has not come.
    """

    before_us: Float64[np.ndarray, " isi"]
    after_us: Float64[np.ndarray, " iti"]


class Tracker(NamedTuple):
    """What the predictor remembers of the observed stream.

    Attributes:
        elapsed: steps since the last onset of CS or US.
        after_us: whether that onset was the US's.
        cs: whether the CS was on at the last step.
        us: whether the US was on at the last step.
    """

    elapsed: Int32[Array, ""]
    after_us: Bool[Array, ""]
    cs: Bool[Array, ""]
    us: Bool[Array, ""]


class _Moments(NamedTuple):
    """First and second moments of the return at each time since onset, and how often each is."""

    mean: OptimalValues
    square: OptimalValues
    weight: OptimalValues


def optimal_values(environment: TraceConditioning, discount: float) -> OptimalValues:
    """Tables of the expected return given the history, for a `discount` per step in [0, 1).

    Raises:
        ValueError: if `discount` is outside [0, 1).
    """
    return _moments(environment, discount).mean


def optimal_msre(environment: TraceConditioning, discount: float) -> float:
    """Mean squared return error of the optimal predictor in the long run: its floor.

    Raises:
        ValueError: if `discount` is outside [0, 1).
    """
    mean, square, weight = map(np.concatenate, _moments(environment, discount))
    return float(weight @ (square - mean**2))


def mean_return(environment: TraceConditioning, discount: float) -> float:
    """Long-run mean of the return, which is also the best constant prediction.

    Raises:
        ValueError: if `discount` is outside [0, 1).
    """
    mean, _, weight = map(np.concatenate, _moments(environment, discount))
    return float(weight @ mean)


def constant_msre(environment: TraceConditioning, discount: float) -> float:
    """Mean squared return error of the best constant prediction: the variance of the return.

    Raises:
        ValueError: if `discount` is outside [0, 1).
    """
    _, square, weight = map(np.concatenate, _moments(environment, discount))
    return float(weight @ square) - mean_return(environment, discount) ** 2


def memoryless_msre(environment: TraceConditioning, discount: float) -> float:
    """Mean squared return error of the best prediction from the present observation alone.

    CS and US never overlap and distractors carry nothing, so it knows whether the CS is on, the US
    is on, or neither is, and predicts the mean return of each.

    Raises:
        ValueError: if `discount` is outside [0, 1).
    """
    mean, square, weight = _moments(environment, discount)
    cs = np.arange(len(mean.before_us)) < environment.cs_steps
    us = np.arange(len(mean.after_us)) < environment.us_steps
    # 1 while the CS is on, 2 while the US is on
    seen = np.concatenate([np.where(cs, 1, 0), np.where(us, 2, 0)])
    means, squares, weights = map(np.concatenate, (mean, square, weight))
    share = np.bincount(seen, weights, minlength=3)
    prediction = np.bincount(seen, weights * means, minlength=3) / share
    return float(weights @ squares - share @ prediction**2)


def initial_tracker() -> Tracker:
    """The carry before the first step of a stream."""
    # Past the end of every table: predictions are NaN until a first onset is seen.
    return Tracker(jnp.int32(2**30), jnp.bool(False), jnp.bool(False), jnp.bool(False))


def optimal_prediction(
    values: OptimalValues, tracker: Tracker, observation: Float32[Array, " features"]
) -> tuple[Tracker, Float[Array, ""]]:
    """Predict the return after one step from what has been observed, never the hidden state.

    With `values` bound this is a body for `jax.lax.scan`. The prediction is NaN until the first
    onset (a stream begins with one), and where the stream is not one that `values` describes.
    """
    us, cs = observation[0] > 0, observation[1] > 0
    us_onset, cs_onset = us & ~tracker.us, cs & ~tracker.cs
    elapsed = jnp.where(us_onset | cs_onset, 0, tracker.elapsed + 1)
    after_us = us_onset | (tracker.after_us & ~cs_onset)
    before, after = (
        jnp.asarray(table).at[elapsed].get(mode="fill", fill_value=jnp.nan) for table in values
    )
    return Tracker(elapsed, after_us, cs, us), jnp.where(after_us, after, before)


def optimal_predictions(
    values: OptimalValues,
    observations: Float32[Array, "steps features"],
    start: Tracker | None = None,
) -> tuple[Tracker, Float[Array, " steps"]]:
    """`optimal_prediction` along a stretch of a stream; `start` carries on from the one before."""

    def step(
        tracker: Tracker, observation: Float32[Array, " features"]
    ) -> tuple[Tracker, Float[Array, ""]]:
        return optimal_prediction(values, tracker, observation)

    return jax.lax.scan(step, initial_tracker() if start is None else start, observations)


def _moments(environment: TraceConditioning, discount: float) -> _Moments:
    if not 0 <= discount < 1:
        raise ValueError(f"discount must be in [0, 1): got {discount}")
    isi = np.arange(environment.isi_low, environment.isi_high + 1)
    iti = np.arange(environment.iti_low, environment.iti_high + 1)
    square = discount**2
    us_sum = (1 - discount**environment.us_steps) / (1 - discount)

    # E[G] = E[d^(I-1)] E[T] and E[T] = us_sum + d E[d^J] E[G]; likewise for the squares.
    isi_1, isi_2 = np.mean(discount ** (isi - 1.0)), np.mean(square ** (isi - 1.0))
    iti_1, iti_2 = np.mean(discount ** (iti + 1.0)), np.mean(square ** (iti + 1.0))
    g_1 = isi_1 * us_sum / (1 - isi_1 * iti_1)
    t_1 = us_sum + iti_1 * g_1
    g_2 = isi_2 * (us_sum**2 + 2 * us_sum * iti_1 * g_1) / (1 - isi_2 * iti_2)
    t_2 = us_sum**2 + 2 * us_sum * iti_1 * g_1 + iti_2 * g_2

    # The return is d^(I-1-s) T at s steps since CS onset, and at u steps since US onset the rest
    # of the US plus d^(J-u) G'.
    ahead_1, ahead_2 = _discount_to_event(isi, discount), _discount_to_event(isi, square)
    next_1 = discount * _discount_to_event(iti, discount)
    next_2 = square * _discount_to_event(iti, square)
    left = np.maximum(environment.us_steps - 1 - np.arange(environment.iti_high), 0)
    rest = (1 - discount**left) / (1 - discount)
    length = isi.mean() + iti.mean()
    return _Moments(
        mean=OptimalValues(ahead_1 * t_1, rest + next_1 * g_1),
        square=OptimalValues(ahead_2 * t_2, rest**2 + 2 * rest * next_1 * g_1 + next_2 * g_2),
        weight=OptimalValues(_survival(isi) / length, _survival(iti) / length),
    )


def _discount_to_event(
    interval: Int[np.ndarray, " values"], discount: float
) -> Float64[np.ndarray, " steps"]:
    """`E[discount^(I-1-s) | I > s]` for `s = 0, 1, ...`, `I` uniform on the given values."""
    ahead = interval - 1 - np.arange(interval[-1])[:, None]
    possible = ahead >= 0
    powers = np.where(possible, discount ** np.maximum(ahead, 0.0), 0.0)
    return powers.sum(axis=1) / possible.sum(axis=1)


def _survival(interval: Int[np.ndarray, " values"]) -> Float64[np.ndarray, " steps"]:
    """`P(I > s)` for `s = 0, 1, ...`, `I` uniform on the given values."""
    return (interval > np.arange(interval[-1])[:, None]).mean(axis=1)
