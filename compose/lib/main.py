"""The commands of this folder."""

import argparse
import signal
import sys

import bench
import looking
import operating
import starting
import testing
from problem import Problem

COMMANDS = {
    "up": starting.up,
    "down": starting.down,
    "status": looking.status,
    "logs": looking.logs,
    "code": looking.code,
    "postgres": looking.postgres,
    "run": looking.run,
    "bench": bench.bench,
    "secrets": starting.make_secrets,
    "restart": operating.restart,
    "rotate": operating.rotate,
    "test": testing.test,
}


def main():
    name, arguments = sys.argv[1], sys.argv[2:]
    # Whoever starts this may have signals blocked, and what is started from here would have them blocked too.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        return COMMANDS[name](argparse.ArgumentParser(prog=f"compose/{name}", allow_abbrev=False), arguments)
    except Problem as problem:
        print(f"latchkey: {problem}", file=sys.stderr)
        return problem.status
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
