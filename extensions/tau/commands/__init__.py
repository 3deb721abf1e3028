"""Commands of the extension ``tau``."""
