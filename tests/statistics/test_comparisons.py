"""Means, tests and verdicts against numbers worked out by hand."""

import math

import pytest

from untruncated.statistics.comparisons import (
    Comparison,
    compare,
    compare_each,
    holm,
    ratios,
    tally,
)
from untruncated.statistics.samples import Sample, best, worst

LOW = Sample((1.0, 2.0, 3.0), x=4)
HIGH = Sample((11.0, 12.0, 13.0), x=4)


def test_a_sum_is_told_per_step():
    per_step = HIGH.per(100)
    assert str(per_step) == "0.120 ± 0.006" and per_step.x == 4
    assert str(Sample((100.0, math.nan, 300.0)).per(100)) == "2.0 ± 1.0 (1 of 3 diverged)"


def test_a_sample_is_summed_up():
    assert (LOW.seeds, LOW.mean, LOW.median, LOW.diverged) == (3, 2.0, 2.0, 0)
    assert LOW.error == pytest.approx(1 / math.sqrt(3))
    assert str(LOW) == "2.0 ± 0.6"
    assert LOW.share(2, 3) == pytest.approx(2 / 3)


def test_a_diverged_seed_is_told():
    some = Sample((1.0, math.nan, 3.0, math.nan))
    assert (some.mean, some.diverged, some.survivors) == (2.0, 2, (1.0, 3.0))
    assert str(some) == "2.0 ± 1.0 (2 of 4 diverged)"
    assert str(Sample((math.nan, math.nan))) == "× (all 2 seeds diverged)"
    assert str(Sample((5.0, math.nan), lost="never")) == "5.00 (1 of 2 never)"


def test_one_seed_has_no_error_and_no_test():
    one = Sample((5.0,))
    assert str(one) == "5.00" and math.isnan(one.error)
    comparison = compare(one, LOW)
    assert str(comparison) == "not tested against"
    assert comparison.evidence == "too few seeds for a test"
    assert str(compare(Sample((math.nan,)), LOW)) == "not tested against"


def test_welch_by_hand():
    """Difference 10, standard error sqrt(2/3), 4 degrees of freedom: t = 12.25, p = 0.000255."""
    comparison = compare(LOW, HIGH)
    assert comparison.p == 0.00026
    assert (str(comparison), comparison.evidence) == ("ahead of", "p = 0.00026")
    assert str(compare(HIGH, LOW)) == "behind"
    # unequal variances: t = -2.5/sqrt(0.5 + 5.7), 2.44 degrees of freedom (Welch and Satterthwaite)
    apart = compare(Sample((0.0, 1.0, 2.0, 1.0)), Sample((1.0, 9.0, 2.0, 2.0)))
    assert (str(apart), apart.verdict, apart.p) == ("level with", "level", 0.27)


def test_equal_values():
    same = Sample((0.1, 0.1, 0.1))
    assert (compare(same, same).p, str(compare(same, same))) == (1.0, "level with")
    assert (compare(same, Sample((0.2,) * 3)).p, str(compare(same, Sample((0.2,) * 3)))) == (
        0.0,
        "ahead of",
    )
    assert compare(same, Sample((0.2,) * 3)).evidence == "p < 0.0001"


def test_a_diverged_seed_stands_behind_all_others():
    """Of the 252 ways to split ten ranks the two most extreme: p = 2/252."""
    sound = Sample((0.3, 0.31, 0.32, 0.33, 0.34))
    broken = Sample((0.35, 0.36, 0.37, 0.38, math.nan))
    comparison = compare(broken, sound)
    assert comparison.p == pytest.approx(2 / 252, rel=0.02)
    assert (comparison.verdict, compare(sound, broken).verdict) == ("behind", "ahead")
    assert sound.mean < broken.mean
    # its survivors alone would be ahead
    lucky = Sample((0.1, math.nan, math.nan, math.nan, math.nan))
    assert lucky.mean < sound.mean
    assert compare(lucky, sound).verdict == "level"
    lost = Sample((math.nan,) * 5)
    assert compare(lost, lost).verdict == "level"
    assert compare(lost, sound).verdict == "behind"


def test_a_seed_far_from_all_others_is_no_mean():
    """A test of means would say nothing: p = 0.34; by ranks all but one are lower: p = 0.0079."""
    good = Sample((0.10, 0.11, 0.12, 0.13, 0.14))
    exploded = Sample((0.21, 0.22, 0.23, 0.24, 1e8))
    assert str(exploded) == "median 0.230, highest 100,000,000"
    assert compare(good, exploded).p == 0.0079
    assert not Sample((1.0, 2.0, 10.0)).outlying


def test_a_sample_of_which_higher_is_better_is_judged_the_other_way():
    low, high = (Sample(sample.values, x=4, better="max") for sample in (LOW, HIGH))
    assert (str(compare(high, low)), compare(high, low).p) == ("ahead of", 0.00026)
    assert str(compare(low, high)) == "behind"
    assert (best([low, high]), worst([low, high])) == (high, low)
    assert (best([LOW, HIGH]), worst([LOW, HIGH])) == (LOW, HIGH)
    with pytest.raises(ValueError, match="cannot be compared"):
        compare(low, HIGH)


@pytest.mark.parametrize("better", ["min", "max"])
@pytest.mark.parametrize("lost", [math.nan, math.inf, -math.inf])
def test_a_diverged_seed_is_worst_whichever_way_is_better(better, lost):
    sign = 1 if better == "min" else -1
    sound, broken = (
        Sample(tuple(sign * value for value in values), better=better)
        for values in ((0.3, 0.31, 0.32, 0.33, 0.34), (0.35, 0.36, 0.37, 0.38, lost))
    )
    comparison = compare(broken, sound)
    assert comparison.p == pytest.approx(2 / 252, rel=0.02)
    assert (comparison.verdict, compare(sound, broken).verdict) == ("behind", "ahead")
    lucky = Sample((sign * 0.1, lost), better=better)
    assert best([lucky, sound]) is sound and worst([lucky, sound]) is lucky
    assert str(lucky) == f"{'' if sign > 0 else '-'}0.100 (1 of 2 diverged)"


def test_a_seed_far_below_all_others_is_told_where_higher_is_better():
    exploded = Sample((21.0, 22.0, 23.0, 24.0, -1e8), better="max")
    assert str(exploded) == "median 22.0, lowest -100,000,000"
    assert compare(Sample((10.0, 11.0, 12.0, 13.0, 14.0), better="max"), exploded).p > 0.05
    assert not Sample((1.0, 2.0, 1e8), better="max").outlying


def test_words_follow_the_number_that_is_printed():
    assert Comparison(LOW, HIGH, 0.05, -1).verdict == "level"
    assert Comparison(LOW, HIGH, 0.049, -1).verdict == "ahead"


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    corrected = holm([0.01, math.nan])
    assert corrected[0] == 0.01 and math.isnan(corrected[1])
    assert holm([]) == []


def test_several_comparisons_are_corrected_together():
    # t = 3.06, 4 degrees of freedom: p = 0.0376 alone, 0.0752 as one of two
    near = Sample((3.5, 4.5, 5.5), x=8)
    assert compare(LOW, near).verdict == "ahead"
    assert [c.verdict for c in compare_each(LOW, [near, near])] == ["level", "level"]
    assert [c.verdict for c in compare_each([LOW, LOW], [HIGH, near])] == ["ahead", "ahead"]
    assert [c.verdict for c in compare_each([HIGH], LOW)] == ["behind"]
    with pytest.raises(ValueError, match="2 samples cannot be compared with 3"):
        compare_each([LOW, LOW], [HIGH] * 3)


def test_a_tally_names_every_place_and_the_weakest_p():
    def made(p, sign, x):
        return Comparison(Sample((1.0,), x=x), Sample((2.0,), x=x), p, sign)

    mixed = [made(0.01, -1, 4), made(0.002, -1, 8), made(0.3, 1, 16), made(0.02, 1, 1000)]
    expected = "ahead at n = 4 and 8 (p ≤ 0.010); level at n = 16 (p = 0.30); behind at n = 1,000"
    assert tally(mixed, "n") == f"{expected} (p = 0.020)"
    assert tally(mixed[:2], "n") == "ahead at every n (p ≤ 0.010)"
    assert tally([made(0.3, 1, 4), made(0.2, 1, 8)], "n") == "level at every n (p ≥ 0.20)"
    assert tally(mixed[:2], places=["E = 10", "E = 20"]) == "ahead at E = 10 and E = 20 (p ≤ 0.010)"
    flat = Comparison(Sample((1.0,)), Sample((2.0,), x=15), 0.2, -1)
    assert tally([flat], "T") == "level at T = 15 (p = 0.20)"


def test_best_worst_and_ratios():
    lost = Sample((0.1, math.nan))
    assert best([HIGH, LOW, lost]) is LOW
    assert worst([HIGH, LOW, lost]) is lost
    assert best([lost, Sample((math.nan, math.nan))]) is lost
    assert ratios(HIGH, [LOW, HIGH]) == [6.0, 1.0]
