"""The commands of this folder: up, down, status, logs, code, postgres, test."""

import sys

import commands
from problem import Problem


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    try:
        return getattr(commands, command)(arguments)
    except Problem as problem:
        print(f"latchkey: {problem}", file=sys.stderr)
        return problem.status
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
