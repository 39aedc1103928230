"""How a gradient crosses time."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "RTRL": "traces",
        "DenseRTRL": "rtrl",
        "OnlineGradient": "online",
        "OnlineStep": "online",
        "TruncatedBPTT": "truncated_bptt",
        "bptt_gradient": "bptt",
        "sequence_features": "bptt",
        "traced_step": "traces",
    },
)
