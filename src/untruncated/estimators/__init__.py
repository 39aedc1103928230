"""How a gradient crosses time."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "PES": "persistent_es",
        "RTRL": "traces",
        "UORO": "uoro",
        "CellTraces": "cell_traces",
        "DenseRTRL": "rtrl",
        "ESSingle": "persistent_es",
        "FullES": "evolution_strategies",
        "OnlineGradient": "online",
        "OnlineStep": "online",
        "PESAnalytic": "persistent_es",
        "Staggered": "staggered",
        "TruncatedBPTT": "truncated_bptt",
        "TruncatedES": "evolution_strategies",
        "UnrollEstimator": "unrolled",
        "UnrolledBPTT": "unrolled_backpropagation",
        "UnrolledRTRL": "unrolled_rtrl",
        "UnrolledTruncatedBPTT": "unrolled_backpropagation",
        "bptt_gradient": "bptt",
        "pes_variance": "variance",
        "sequence_features": "bptt",
        "traced_step": "traces",
    },
)
