"""What the command line does, one module per command where it is more than a call."""
