"""Results collected into tidy tables."""
