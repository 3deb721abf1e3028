"""Instructions written by a model: asked for, sifted, solved and kept."""
