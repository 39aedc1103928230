"""What is asked: experiment files, specs, the runs that a figure needs."""
