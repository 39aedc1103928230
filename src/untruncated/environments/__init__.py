"""Environments: streams and tasks as pure functions over an explicit state."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "BraxPOMDP": "brax_pomdp",
        "Environment": "protocol",
        "ReacherPOMDP": "reacher_pomdp",
        "TimeStep": "protocol",
        "TraceConditioning": "trace_conditioning",
        "discounted_returns": "returns",
        "optimal_msre": "trace_conditioning_optimal",
        "optimal_predictions": "trace_conditioning_optimal",
    },
)
