"""Statistics over seeds: closed forms, an independent t, and how often an interval holds what it should."""

import numpy as np
import pytest
from scipy import stats

from disdain.evaluation.statistics import best, interval, mean_and_std, paired_difference, quantile_t, summary

VALUES = np.array([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])


def test_mean_and_sample_deviation():
    mean, std = mean_and_std(VALUES)
    assert mean == 5.0
    assert std == pytest.approx(np.sqrt(32 / 7))


def test_curves_keep_their_axes():
    curves = np.stack([VALUES, 2 * VALUES, VALUES**2], 1)
    mean, std = mean_and_std(curves)
    low, high = interval(curves)
    assert mean.shape == std.shape == low.shape == high.shape == (3,)
    for i in range(3):
        assert (low[i], high[i]) == interval(curves[:, i])


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 19, 99])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.995])
def test_quantiles_of_t(freedom, probability):
    assert quantile_t(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-9, abs=1e-12)


def test_quantiles_that_every_table_has():
    for freedom, t in ((1, 12.706), (4, 2.776), (9, 2.262), (19, 2.093)):
        assert quantile_t(0.975, freedom) == pytest.approx(t, abs=5e-4)


def test_the_interval_is_that_of_a_t_test():
    for level in (0.5, 0.95, 0.99):
        low, high = interval(VALUES, level)
        expected = stats.ttest_1samp(VALUES, 0.0).confidence_interval(level)
        assert (low, high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("seeds", [2, 4, 10, 20])
def test_the_interval_holds_the_mean_as_often_as_it_says(seeds):
    draws = np.random.default_rng(seeds).normal(3.0, 2.0, (seeds, 20_000))
    low, high = interval(draws)
    assert np.mean((low < 3.0) & (high > 3.0)) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 20_000))


def test_skewed_values_are_still_held_most_of_the_time():
    draws = np.random.default_rng(0).exponential(1.0, (10, 20_000))
    low, high = interval(draws)
    assert 0.88 < np.mean((low < 1.0) & (high > 1.0)) < 0.95


def test_a_percentile_bootstrap_of_five_seeds_would_miss_one_in_six():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4000, 5))
    means = np.take_along_axis(draws[:, None], rng.integers(0, 5, (4000, 400, 5)), 2).mean(2)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    assert 0.80 < np.mean((low < 0) & (high > 0)) < 0.87


def test_a_lone_seed_has_no_interval():
    assert np.isnan(interval(np.array([3.0]))).all()
    assert summary(np.array([3.0])) == {"mean": 3.0, "std": None, "low": None, "high": None}


def test_equal_seeds_have_an_interval_of_no_width():
    assert interval(np.full(5, 7.0)) == (7.0, 7.0)
    assert summary(np.full(5, 7.0)) == {"mean": 7.0, "std": 0.0, "low": 7.0, "high": 7.0}


def test_what_is_not_a_number_is_not_hidden():
    assert set(summary(np.array([1.0, np.nan])).values()) == {None}


def test_the_best_seeds():
    score = np.array([3.0, 9.0, np.nan, 9.0, 1.0])
    assert best(score, 3).tolist() == [1, 3, 0]
    assert best(score, 5).tolist() == [1, 3, 0, 4, 2]
    for count in (0, 6):
        with pytest.raises(ValueError, match=f"best {count} of 5"):
            best(score, count)


def test_a_paired_difference_is_a_paired_t_test():
    rng = np.random.default_rng(2)
    first = rng.normal(10, 5, 12)
    second = first + rng.normal(1, 0.5, 12)
    found = paired_difference(first, second)
    expected = stats.ttest_rel(second, first).confidence_interval(0.95)
    assert (found.mean, found.low, found.high) == pytest.approx((np.mean(second - first), *expected))
    assert found.seeds == 12
    width = np.diff(interval(second))[0]
    assert found.high - found.low < 0.3 * width


def test_only_seeds_that_both_have_are_compared():
    found = paired_difference({0: 1.0, 1: 2.0, 5: 4.0}, {1: 3.0, 5: 6.0, 9: 100.0})
    assert (found.mean, found.seeds) == (1.5, 2)
    with pytest.raises(ValueError, match="no seeds in common"):
        paired_difference({0: 1.0}, {1: 1.0})
    with pytest.raises(ValueError, match="no seeds in common"):
        paired_difference(np.ones(3), np.ones(4))
