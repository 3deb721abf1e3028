"""More environments of this repository; ``envs.registry`` loads every module here.

In a checkout, ``turnwise env new NAME`` creates a module in this folder.
"""
