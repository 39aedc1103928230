"""How a gradient crosses time."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "PES": "unrolled.pes",
        "RTRL": "online.traces",
        "UORO": "unrolled.uoro",
        "CellTraces": "unrolled.cell_traces",
        "DenseRTRL": "online.dense_rtrl",
        "ESSingle": "unrolled.es_single",
        "FullES": "unrolled.evolution_strategies",
        "OnlineGradient": "online.protocol",
        "OnlineStep": "online.protocol",
        "PESAnalytic": "unrolled.pes_analytic",
        "Staggered": "unrolled.staggered",
        "TruncatedBPTT": "online.truncated_bptt",
        "TruncatedES": "unrolled.evolution_strategies",
        "UnrollEstimator": "unrolled.protocol",
        "UnrolledBPTT": "unrolled.backpropagation",
        "UnrolledRTRL": "unrolled.rtrl",
        "UnrolledTruncatedBPTT": "unrolled.backpropagation",
        "bptt_gradient": "online.bptt",
        "sequence_features": "online.bptt",
        "traced_step": "online.traces",
    },
)
