"""Types of calling formats, and the built-in format.

The extension ``formats`` adds further formats.
"""
