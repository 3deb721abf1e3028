"""The commands of ``turnwise``: arguments and printing, one module each."""
