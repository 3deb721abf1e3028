"""Program that starts an MCP server and relays a limited number of bytes of its output.

The MCP library stores a line until it ends, so an endless line would use all memory. The server
reads its input without this program. Arguments: maximum number of bytes, command of the server.
"""

from __future__ import annotations

import os
import subprocess
import sys

TOO_LARGE = "the server sent too much output"
"""Last line of the error output if the server was stopped."""
_PART_BYTES = 1 << 16


def main() -> int:
    """Relay the output of the server; return its exit status."""
    left = int(sys.argv[1])
    try:
        server = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
    except OSError as error:
        sys.stderr.write(f"{sys.argv[2]} cannot be started: {error.strerror}\n")
        return 1
    assert server.stdout is not None
    while part := os.read(server.stdout.fileno(), _PART_BYTES):
        left -= len(part)
        if left < 0:
            server.kill()
            sys.stderr.write(f"\n{TOO_LARGE}\n")
            return 1
        try:
            _write(part)
        except OSError:  # the client has gone
            server.kill()
            return 1
    return server.wait()


def _write(part: bytes) -> None:
    while part:
        part = part[os.write(1, part) :]


if __name__ == "__main__":
    raise SystemExit(main())
