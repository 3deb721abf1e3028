"""The command of this extension."""
