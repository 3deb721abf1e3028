"""Scripts for maintainers of the project and its built-in data; they are not installed."""
