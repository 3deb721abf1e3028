"""Registration of the extension ``languages``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Extension

if TYPE_CHECKING:
    from extensions.languages import translations
    from trajectories.dataset import Dataset
    from trajectories.schema import Category
else:
    translations = lazy_module("extensions.languages.translations")


class LanguagesExtension(Extension):
    """Extension with entries in other languages."""

    name = "languages"

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load the translated entries."""
        return translations.load_translated(categories) if name == "translated" else None


EXTENSION = LanguagesExtension()
