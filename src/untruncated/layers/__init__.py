"""Flax modules over the cells, for your own training loop."""
