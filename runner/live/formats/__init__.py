"""The formats in which a prompting model can be asked and answer; no I/O but the prompt files."""
