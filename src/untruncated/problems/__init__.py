"""Unrolled systems whose parameters are to be learned."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "CharacterLSTM": "character_lstm",
        "InfluenceBalancing": "influence_balancing",
        "Problem": "protocol",
        "ToyRegression": "toy_regression",
    },
)
