"""Commands of the extension ``users``."""
