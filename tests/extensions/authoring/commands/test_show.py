from __future__ import annotations

from dataclasses import replace

from extensions.authoring.commands.show import count_contents


def test_what_is_in_a_data_set(dataset_of, help_desk, folders):
    more = replace(folders, id="folders_1")
    assert count_contents(dataset_of(help_desk, folders, more)) == [
        ["category", "entries", "turns", "ground-truth calls"],
        ["base", "2", "4", "6"],
        ["miss_func", "1", "3", "3"],
    ]
