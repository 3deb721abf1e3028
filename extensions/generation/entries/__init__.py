"""Instructions that models write: what they are shown, and what becomes of what they write."""
