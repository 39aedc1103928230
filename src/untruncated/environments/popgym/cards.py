"""Decks of 52 cards, as far as the games tell cards apart: by colour, suit or rank."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float32, Int, Int8, PRNGKeyArray

CARDS = 52
COLOURS, SUITS, RANKS = 2, 4, 13
SYMBOLS = {
    COLOURS: ("black", "red"),
    SUITS: ("♠", "♦", "♣", "♥"),
    RANKS: ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"),
}


def shuffled_deck(key: PRNGKeyArray, decks: int, kinds: int) -> Int8[Array, " cards"]:
    """The kinds of all cards in the order in which they are dealt.

    Args:
        key: what the order is drawn from.
        decks: number of decks of 52 cards shuffled into one.
        kinds: 2, 4 or 13: whether a card counts as its colour, its suit or its rank.
    """
    cards = decks * CARDS
    return (shuffled(key, cards) % kinds).astype(jnp.int8)


def shuffled(key: PRNGKeyArray, size: int) -> Int[Array, " size"]:
    """The numbers 0 to size - 1 in random order."""
    # Sorting random numbers that carry the index in their low bits is five times faster than
    # jax.random.permutation. For 832 cards 22 random bits are left, so that the order of two
    # cards is uneven by one part in four million.
    low = (1 << (size - 1).bit_length()) - 1
    bits = jax.random.bits(key, (size,), jnp.uint32) & np.uint32(0xFFFFFFFF ^ low)
    return (jnp.sort(bits | jnp.arange(size, dtype=jnp.uint32)) & low).astype(jnp.int32)


def one_hot(*values: tuple[Int[Array, "..."], int]) -> Float32[Array, " features"]:
    """Pairs of an index and the number of its values, one after the other as features."""
    parts = [jax.nn.one_hot(value, size, dtype=jnp.float32) for value, size in values]
    return jnp.concatenate([part.reshape(-1) for part in parts])


def win_or_lose(won: Bool[Array, ""], scale: float) -> Float32[Array, ""]:
    """The reward `scale` if `won`, and minus that if not."""
    return jnp.where(won, jnp.float32(scale), jnp.float32(-scale))
