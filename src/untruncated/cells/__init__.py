"""Recurrent cells: frozen records of static choices with pure functions of pytrees."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "BlockDiagonal": "block_diagonal",
        "GRU": "gru",
        "LRU": "lru",
        "Cell": "protocol",
        "LinearRTU": "linear_rtu",
        "NonlinearLRU": "nonlinear_lru",
        "NonlinearRTU": "nonlinear_rtu",
        "TraceCell": "protocol",
        "VanillaRNN": "vanilla_rnn",
    },
)
