"""Recurrent cells: frozen records of static choices with pure functions of pytrees."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "BlockDiagonal": "block_diagonal",
        "Cell": "protocol",
        "Feedforward": "feedforward",
        "GRU": "gru",
        "LinearRTU": "linear_rtu",
        "LRU": "lru",
        "NonlinearLRU": "nonlinear_lru",
        "NonlinearRTU": "nonlinear_rtu",
        "TraceCell": "protocol",
        "VanillaRNN": "vanilla_rnn",
    },
)
