"""How tables become figures."""
