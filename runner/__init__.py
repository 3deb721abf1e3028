"""The conductor: sources of calls, the turn loop, files and commands."""
