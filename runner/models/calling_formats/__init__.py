"""Types of calling formats, and the built-in format.

An extension adds further formats.
"""
