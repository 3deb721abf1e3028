"""The templates of ``turnwise new-env``: a small environment that is whole, to be rewritten."""
