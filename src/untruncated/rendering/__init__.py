"""What an environment looks like: episodes as text, robots as web pages."""
