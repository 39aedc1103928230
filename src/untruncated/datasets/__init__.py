"""Data: where it is looked for, how it is verified, and how it is read."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {"encode": "characters", "DataError": "folders", "data_folders": "folders"}
)
