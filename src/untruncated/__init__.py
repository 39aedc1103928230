"""Learning through time without cutting the gradient short."""
