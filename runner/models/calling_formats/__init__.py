"""Types of calling formats, and the built-in format. An extension has the other formats."""
