"""Recurrent cells: frozen records of static choices with pure functions of pytrees."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "GRU": "gru",
        "LRU": "lru",
        "Cell": "protocol",
        "LinearRTU": "linear_rtu",
        "NonlinearRTU": "nonlinear_rtu",
        "TraceCell": "protocol",
    },
)
