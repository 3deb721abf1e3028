"""Languages: built-in entries with user messages in Chinese, German or Spanish."""
