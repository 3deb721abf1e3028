"""Runs a command and writes ``{"seconds", "bytes"}``: how long it took and its peak memory.

A process of its own, for a child's peak begins with that of the process that started it.
"""

import json
import os
import subprocess
import sys
import time


def main():
    """Run the command and end with its status."""
    start = time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "bytes": usage.ru_maxrss * 1024}))
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
