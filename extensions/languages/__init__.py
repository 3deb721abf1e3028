"""Languages: built-in entries whose user messages are in Chinese, German or Spanish."""
