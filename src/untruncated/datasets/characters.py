"""Texts as sequences of whole numbers."""

import numpy as np
from jaxtyping import Int


def encode(text: str) -> tuple[Int[np.ndarray, " characters"], str]:
    """The text with each character numbered by its first appearance, and the characters."""
    symbols = "".join(dict.fromkeys(text))
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    return np.array([numbers[symbol] for symbol in text], np.int32), symbols
