"""Logs of the processes: one file each, bounded, and the terminal of a foreground `up`."""

import os
import sys

LIMIT = 8 * 1024 * 1024
KEPT = 3
LONGEST_LINE = 64 * 1024


class LogFile:
    """Takes whole lines. Past 8 MiB a file becomes `.1`, and what was `.3` goes."""

    def __init__(self, path):
        self.path = path
        self.file = None
        self.size = 0

    def write(self, line):
        try:
            if self.file is None:
                self.file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                self.size = os.fstat(self.file).st_size
            self.size += os.write(self.file, line)
            if self.size > LIMIT:
                self.rotate()
        except OSError:
            # A full disk must not stop what the log is about.
            return

    def rotate(self):
        os.close(self.file)
        self.file = None
        for number in range(KEPT - 1, 0, -1):
            if os.path.exists(f"{self.path}.{number}"):
                os.replace(f"{self.path}.{number}", f"{self.path}.{number + 1}")
        os.replace(self.path, f"{self.path}.1")


class Lines:
    """Cuts what a process writes into lines, and gives them to everybody who wants them."""

    def __init__(self, receivers):
        self.receivers = receivers
        self.rest = b""

    def feed(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.give(line)
        if len(self.rest) > LONGEST_LINE:
            self.end()

    def end(self):
        if self.rest:
            self.give(self.rest)
            self.rest = b""

    def give(self, line):
        for receiver in self.receivers:
            receiver(line + b"\n")


class Terminal:
    """Lines with the name of their process before them. A terminal that is held up (Ctrl-S) loses lines; nobody waits."""

    COLOURS = (36, 33, 32, 35, 34, 96)
    LIMIT = 1 << 20

    def __init__(self, width):
        self.width = width
        self.is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self.names = {}
        self.waiting = bytearray()
        self.descriptor = os.dup(1)

    def receiver(self, name):
        number = self.names.setdefault(name, len(self.names))
        label = f"{name:<{self.width}} | "
        if self.is_coloured:
            label = f"\x1b[{self.COLOURS[number % len(self.COLOURS)]}m{label}\x1b[0m"
        prefix = label.encode()

        def write(line):
            self.write(prefix + line)
        return write

    def write(self, data):
        if len(self.waiting) < self.LIMIT:
            self.waiting += data

    def flush(self, poller):
        """Writes as much as goes without waiting."""
        while self.waiting and poller(self.descriptor):
            try:
                written = os.write(self.descriptor, self.waiting[:4096])
            except OSError:
                self.waiting.clear()
                return
            del self.waiting[:written]


def tail(path, count):
    """The last lines of a log, over a rotation too."""
    lines = []
    for name in (path, f"{path}.1"):
        if len(lines) >= count:
            break
        try:
            with open(name, "rb") as file:
                file.seek(0, os.SEEK_END)
                size = file.tell()
                file.seek(max(0, size - 256 * 1024))
                found = file.read().split(b"\n")
        except FileNotFoundError:
            continue
        if found and not found[-1]:
            found.pop()
        lines = found[-(count - len(lines)):] + lines
    return [line.decode("utf-8", "replace") for line in lines]
