"""How a gradient crosses time when an agent learns from a stored rollout."""
