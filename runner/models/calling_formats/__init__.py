"""Types of calling formats, and the built-in format; an extension has the others."""
