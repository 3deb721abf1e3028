"""Further environments of this repository: every module here, found by ``envs.registry``.

``turnwise new-env NAME`` puts a new one into this folder.
"""
