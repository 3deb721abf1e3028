"""Environments of plain functions, for entries whose calls are executed and their results compared.

Numbers, calendar, texts, geography and finance hold no state. The market's prices move with every
question, and the REST client asks what the runner connects it with.
"""
