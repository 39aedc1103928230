"""One module per kind of experiment: composes the rooms below into one jitted program."""
