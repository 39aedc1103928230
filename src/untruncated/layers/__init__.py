"""Flax modules over the cells, for your own training loop."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "BlockDiagonal": "modules",
        "GRU": "modules",
        "LRU": "modules",
        "LinearRTU": "modules",
        "NonlinearLRU": "modules",
        "NonlinearRTU": "modules",
        "Recurrent": "recurrent",
        "reset_carry": "recurrent",
    },
)
