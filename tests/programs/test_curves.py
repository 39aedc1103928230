"""How a run's steps are cut into bins and chunks, and what is summed in them."""

import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.programs import curves
from untruncated.programs.curves import Timeline, curve_metrics, work_of

COUNTS = [
    *range(1, 30),
    *range(190, 211),
    *range(390, 411),
    997,  # a prime
    2 * 997,
    1_000,
    19_999,
    20_000,
    20_001,
    100_000,
    123_456,
    200_000,
    600_000,
    2_000_000,
    10_000_019,  # a prime
]


@pytest.mark.parametrize("chunk", [1, 64, 20_000])
def test_bins_and_chunks_divide_the_run(monkeypatch, chunk):
    monkeypatch.setattr(curves, "CHUNK_STEPS", chunk)
    for total in COUNTS:
        timeline = Timeline(total)
        assert 1 <= timeline.bins <= 200
        assert timeline.bins * timeline.bin_steps == total
        assert total % timeline.chunk_steps == 0
        assert timeline.chunk_steps % timeline.bin_steps == 0
        assert timeline.chunk_steps <= max(chunk, timeline.bin_steps)
        assert timeline.bin_ends == [
            timeline.bin_steps * (index + 1) for index in range(timeline.bins)
        ]
        assert timeline.bin_ends[-1] == total


def test_as_many_bins_as_fit_and_chunks_as_long_as_allowed():
    for total in COUNTS:
        timeline = Timeline(total)
        assert timeline.bins == max(n for n in range(1, 201) if total % n == 0)
        longer = [
            n * timeline.bin_steps
            for n in range(1, timeline.bins + 1)
            if timeline.bins % n == 0 and n * timeline.bin_steps <= curves.CHUNK_STEPS
        ]
        assert timeline.chunk_steps == max(longer, default=timeline.bin_steps)


@pytest.mark.parametrize(
    ("total", "bins", "chunk"),
    [
        (1, 1, 1),
        (200, 200, 200),
        (997, 1, 997),
        (20_000, 200, 20_000),
        (200_000, 200, 20_000),
        (600_000, 200, 15_000),
        (2_000_000, 200, 20_000),
        (10_000_000, 200, 50_000),
    ],
)
def test_timelines_by_hand(total, bins, chunk):
    timeline = Timeline(total, members=5)
    assert (timeline.bins, timeline.chunk_steps) == (bins, chunk)


@pytest.mark.parametrize("members", [(), (3,), (2, 3)])
def test_curve_filled_chunk_by_chunk_has_the_sums_of_its_bins(monkeypatch, members):
    monkeypatch.setattr(curves, "CHUNK_STEPS", 120)
    timeline = Timeline(1_200)
    assert (timeline.bins, timeline.bin_steps, timeline.chunk_steps) == (200, 6, 120)
    values = np.random.default_rng(0).normal(size=(1_200, *members)).astype(np.float32)
    curve = jnp.zeros((*members, timeline.bins))
    for start in range(0, 1_200, timeline.chunk_steps):
        chunk = jnp.asarray(values[start : start + timeline.chunk_steps])
        curve = timeline.record(curve, chunk, jnp.int32(start))
    expected = np.stack([values[6 * i : 6 * i + 6].sum(axis=0) for i in range(200)], axis=-1)
    np.testing.assert_allclose(curve, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("total", COUNTS)
def test_chunks_may_split_bins_to_stay_short(total):
    timeline = Timeline(total, members=50, splits_bins=True)
    whole = Timeline(total, members=50)
    bin_steps, chunk = timeline.bin_steps, timeline.chunk_steps
    assert (timeline.bins, bin_steps) == (whole.bins, whole.bin_steps)
    assert total % chunk == 0
    if whole.chunk_steps <= 2_000:
        assert chunk == whole.chunk_steps
        return
    assert bin_steps % chunk == 0
    between = [n for n in range(200, 2_001) if bin_steps % n == 0]
    if between:
        assert chunk == between[-1]
    else:
        assert chunk > 2_000
        assert not any(bin_steps % n == 0 for n in range(2_001, chunk))


@pytest.mark.parametrize(
    ("work", "chunk"),
    [
        (1, 20_000),  # as many steps as of a cheap one
        (3, 5_000),
        (20, 1_000),
        (400, 1_000),  # a bin twenty times too dear stays whole
        (401, 40),
        (10_000, 2),
        (10**9, 1),
    ],
)
def test_chunks_are_the_shorter_the_dearer_a_step_is(work, chunk):
    dear = Timeline(200_000, members=5, splits_bins=True, work=work)
    assert (dear.bin_steps, dear.chunk_steps) == (1_000, chunk)
    whole = Timeline(200_000, members=5, work=work)
    assert whole.chunk_steps == max(chunk, 1_000)


def test_the_work_of_a_step_grows_with_its_operations():
    assert [work_of(operations) for operations in (0, 100, 15_999, 16_000, 4e8)] == [
        1,
        1,
        1,
        2,
        50_000,
    ]


def test_a_curve_filled_by_parts_of_bins_has_the_sums_of_its_bins(monkeypatch):
    monkeypatch.setattr(curves, "CHUNK_STEPS", 10)
    timeline = Timeline(1_200, members=3, splits_bins=True)
    assert (timeline.bin_steps, timeline.chunk_steps) == (6, 3)
    values = np.random.default_rng(0).normal(size=(1_200, 3)).astype(np.float32)
    curve = jnp.full((3, timeline.bins), 7.0)  # what stood there before does not count
    for start in range(0, 1_200, timeline.chunk_steps):
        curve = timeline.record(curve, jnp.asarray(values[start : start + 3]), jnp.int32(start))
    expected = np.stack([values[6 * i : 6 * i + 6].sum(axis=0) for i in range(200)], axis=-1)
    np.testing.assert_allclose(curve, expected, rtol=1e-5, atol=1e-6)


def test_record_leaves_other_bins_alone(monkeypatch):
    monkeypatch.setattr(curves, "CHUNK_STEPS", 20)
    timeline = Timeline(400)
    before = jnp.full((2, 200), 7.0)
    after = np.asarray(timeline.record(before, jnp.ones((20, 2)), jnp.int32(40)))
    assert (after[:, 20:30] == 2.0).all()
    assert (np.delete(after, range(20, 30), axis=1) == 7.0).all()


def test_metrics_of_a_curve_by_hand():
    curve = np.arange(2 * 25, dtype=np.float32).reshape(2, 25)
    metrics = curve_metrics("msre", curve, ("seed",))
    assert {name: metric.axes for name, metric in metrics.items()} == {
        "msre": ("seed",),
        "msre_last_tenth": ("seed",),
        "msre_curve": ("seed", "curve_step"),
    }
    np.testing.assert_array_equal(metrics["msre"].values, [12.0, 37.0])
    # A tenth of 25 bins is two whole ones.
    np.testing.assert_array_equal(metrics["msre_last_tenth"].values, [23.5, 48.5])
    np.testing.assert_array_equal(metrics["msre_curve"].values, curve)
    assert all(metric.values.dtype == np.float32 for metric in metrics.values())


def test_last_tenth_of_a_short_curve_is_its_last_bin():
    metrics = curve_metrics("msre", np.array([[5.0, 3.0, 1.0]]), ("seed",))
    np.testing.assert_array_equal(metrics["msre_last_tenth"].values, [1.0])


def test_a_member_lost_half_way_has_no_average_but_keeps_its_curve():
    curve = np.ones((2, 20), np.float32)
    curve[1, 7:] = np.nan
    metrics = curve_metrics("msre", curve, ("seed",))
    np.testing.assert_array_equal(metrics["msre"].values, [1.0, np.nan])
    np.testing.assert_array_equal(metrics["msre_last_tenth"].values, [1.0, np.nan])
    np.testing.assert_array_equal(metrics["msre_curve"].values[1, :7], np.ones(7))
