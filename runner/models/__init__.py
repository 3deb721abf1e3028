"""Models: clients, conversations, prompts and tools."""
