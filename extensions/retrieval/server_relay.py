"""Program that starts an MCP server and relays a limited number of bytes of its output.

The MCP library stores a line until it ends, so an endless line would use all memory. The server
reads its input without this program. Arguments: maximum number of bytes, command of the server.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

TOO_LARGE = "the server sent too much output"
"""Last line of the error output if the server was stopped."""
_PART_BYTES = 1 << 16
_GRACE_SECONDS = 0.5
"""Wait for further output of an ended server; its child processes may keep the pipe open."""


def main() -> int:
    """Relay the output of the server; return its exit status."""
    left = int(sys.argv[1])
    try:
        server = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
    except OSError as error:
        sys.stderr.write(f"{sys.argv[2]} cannot be started: {error.strerror}\n")
        return 1
    # Without this program, nobody may collect the exit status of the server.
    signal.signal(signal.SIGTERM, lambda *_: _stop(server))
    reading = threading.Event()
    threading.Thread(target=_end_after, args=(server, reading), daemon=True).start()
    assert server.stdout is not None
    while part := _read(server.stdout.fileno(), reading):
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


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.kill()
    server.wait()
    os._exit(1)


def _end_after(server: subprocess.Popen[bytes], reading: threading.Event) -> None:
    """End this program when the server has ended and its output stays silent."""
    status = server.wait()
    deadline = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < deadline:
        if not reading.is_set():
            deadline = time.monotonic() + _GRACE_SECONDS
        time.sleep(0.01)
    os._exit(status & 0xFF)


def _read(handle: int, reading: threading.Event) -> bytes:
    reading.set()
    part = os.read(handle, _PART_BYTES)
    reading.clear()
    return part


def _write(part: bytes) -> None:
    while part:
        part = part[os.write(1, part) :]


if __name__ == "__main__":
    raise SystemExit(main())
