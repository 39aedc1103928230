"""Samples of seeds, comparisons of them, and how sentences report both."""
