"""Checks for cells and estimators of one's own, to be called from one's own tests."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "assert_estimator_unbiased": "unbiased",
        "assert_rtrl_exact": "exact_traces",
    },
)
