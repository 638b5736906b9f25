"""One supervised process."""

import os
import signal
import subprocess
import time

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
# A process that ran for so long is healthy: the next pause is the first one again.
HEALTHY_AFTER = 10.0
# sysexits.h: EX_CONFIG, and what the services use for a wrong command line. Starting again would not help.
HOPELESS = (2, 78)


class Process:
    """Knows how to start itself again; the supervisor says when."""

    def __init__(
            self, name, prefix, command, environment, lines, stop_signal=signal.SIGTERM, death_signal="KILL", directory=None):
        self.name = name
        self.prefix = prefix
        self.command = command
        self.environment = environment
        self.lines = lines
        self.stop_signal = stop_signal
        self.death_signal = death_signal
        self.directory = directory
        self.child = None
        self.output = None
        self.state = "stopped"
        self.restarts = 0
        self.pause = FIRST_PAUSE
        self.since = time.time()
        self.started = 0.0
        self.due = None
        self.exit = None
        self.port = None
        self.operations_port = None

    def set_state(self, state):
        if state != self.state:
            self.state = state
            self.since = time.time()

    def start(self):
        """Its output comes from `self.output`."""
        reader, writer = os.pipe()
        try:
            self.start_into(writer)
        finally:
            os.close(writer)
        os.set_blocking(reader, False)
        self.output = reader

    def start_into(self, output):
        # The kernel ends the process when its starter dies, however that dies. It has a session of its own, so that a
        # Ctrl-C in the terminal reaches the starter alone, which stops everything in order.
        words = [*(self.prefix or ["setpriv"]), "--pdeathsig", self.death_signal]
        self.child = subprocess.Popen(
            [*words, *self.command], env=self.environment, cwd=self.directory, stdin=subprocess.DEVNULL, stdout=output,
            stderr=output, start_new_session=True)
        self.started = time.monotonic()
        self.due = None
        self.exit = None
        self.set_state("running")

    @property
    def pid(self):
        return self.child.pid if self.child else None

    def ended(self):
        """Whether it has ended; then notes how."""
        if self.child is None or self.child.poll() is None:
            return False
        code = self.child.returncode
        self.exit = f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"
        self.child = None
        return True

    def plan_restart(self):
        """Sets the time of the next start. Returns the pause in seconds."""
        if time.monotonic() - self.started >= HEALTHY_AFTER:
            self.pause = FIRST_PAUSE
        pause = self.pause
        self.due = time.monotonic() + pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE)
        self.restarts += 1
        self.set_state("restarting")
        return pause

    def send(self, number):
        """To the whole group: a process that started others takes them along."""
        if self.child is None:
            return
        try:
            os.killpg(self.child.pid, number)
        except (ProcessLookupError, PermissionError):
            try:
                self.child.send_signal(number)
            except ProcessLookupError:
                pass
