"""Trajectories as environments and tasks of other libraries, each in a module of its own."""
