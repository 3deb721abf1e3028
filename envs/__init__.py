"""The simulator: backends, their state, and the calls made on them. Imports nothing of ours."""
