"""How a gradient crosses time."""
