"""Models: clients, the conversation they have, the functions they are shown."""
