"""Environments: streams and tasks as pure functions over an explicit state."""
