"""Further environments of this repository: every module here, found by ``envs.registry``.

``turnwise env new NAME`` puts a new one into this folder.
"""
