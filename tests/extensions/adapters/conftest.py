"""Only `make test-adapters` installs the libraries that most tests here need."""

from __future__ import annotations

import os
from importlib.util import find_spec

if find_spec("gymnasium") is None and "ADAPTERS" not in os.environ:
    collect_ignore_glob = ["test_*_env.py", "test_inspect_task.py", "test_langchain_tools.py"]
