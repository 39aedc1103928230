"""Unrolled systems whose parameters are to be learned."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "CharacterLSTM": "character_lstm",
        "CoupledRing": "coupled_ring",
        "InfluenceBalancing": "influence_balancing",
        "LinearLosses": "linear_losses",
        "Problem": "protocol",
        "ReturnPrediction": "return_prediction",
        "ToyRegression": "toy_regression",
    },
)
