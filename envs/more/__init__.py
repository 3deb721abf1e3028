"""Further built-in environments. ``envs.registry`` loads every module of this folder.

In a checkout, ``turnwise env new NAME`` creates a module in this folder.
"""
