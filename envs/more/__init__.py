"""More environments of this repository; ``envs.registry`` loads every module here.

``turnwise env new NAME`` creates a module in this folder.
"""
