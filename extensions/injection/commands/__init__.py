"""Commands of the extension ``injection``."""
