"""A fake OpenAI-compatible server on loopback, to measure a harness against or to break it with.

    python -m tests.servers.openai_fake --truth bfcl --category base --latency 50

answers with the ground truth of a data set; ``--recorded`` as a recorded run did, ``--fault`` with
trouble. It finds the trajectory by what the user says; a client can name it in a header
``x-turnwise-id`` or a member ``turnwise_id`` of the body. Tests use ``FakeServer`` directly.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.servers.answers import of_dataset
from tests.servers.faults import FAULTS, now_and_then, scripted
from tests.servers.serving import Answerer, FakeServer


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.openai_fake")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument(
        "--truth", metavar="DATASET", default="turnwise", help="what is asked about: as --dataset"
    )
    parser.add_argument("--category", help="of that data, comma-separated; by default all")
    parser.add_argument("--calls-per-step", type=int, metavar="N", help="by default a whole turn's")
    parser.add_argument("--recorded", type=Path, metavar="PATH", help="answer as this run did")
    parser.add_argument(
        "--fault",
        metavar="KIND[,KIND...]",
        help=f"{', '.join(FAULTS)}, or a reply's shape; ok, 500x3 and a last 429* work too",
    )
    parser.add_argument("--fault-rate", type=float, metavar="P", help="at random, not in order")
    parser.add_argument("--fault-seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0, metavar="MS")
    options = parser.parse_args(arguments)
    answer: Answerer = of_dataset(
        options.truth, options.category, options.recorded, options.calls_per_step
    )
    if options.fault and options.fault_rate is not None:
        kinds = options.fault.split(",")
        answer = now_and_then(kinds, options.fault_rate, options.fault_seed, answer)
    elif options.fault:
        answer = scripted(options.fault, answer)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with FakeServer(answer, latency=options.latency / 1000, port=options.port) as server:
        try:
            print(f"serving {server.base_url}", flush=True)
            server.wait()
        except KeyboardInterrupt:
            cpu = f"{time.process_time():.2f} s of CPU"
            print(f"{server.requests} requests, {cpu}", file=sys.stderr)


if __name__ == "__main__":
    main()
