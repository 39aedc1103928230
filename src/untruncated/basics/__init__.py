"""What all rooms above use: errors, messages, files written whole."""
