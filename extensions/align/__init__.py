"""Episodes of several runs side by side."""
