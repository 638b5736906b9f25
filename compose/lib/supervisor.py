"""Keeps Postgres and the services running, until it is asked to stop."""

import json
import os
import select
import selectors
import signal
import time

import health
import logfiles
import ports
import settings
from paths import write_privately
from postgres import Postgres, wait_until_free
from problem import Problem
from process import HOPELESS, Process

POSTGRES_STARTS_WITHIN = 60.0
# Where the log is, for whoever asks it later.
LOG_SETTINGS = ("LATCHKEY_LOG", "LATCHKEY_KAFKA_BOOTSTRAP_SERVERS", "LATCHKEY_PARTITIONS")
READY_WITHIN = 60.0
STOPS_WITHIN = 12.0
# Somebody stopped Postgres on purpose: that may be meant to last a little.
PAUSE_AFTER_CLEAN_STOP = 15.0
# Output of processes gathers for so many seconds, unless there is so much that pipes would fill up: to be woken for each line
# costs requests more than the lines do.
GATHERING = 0.01
MUCH_OUTPUT = 16 * 1024


class Supervisor:
    def __init__(self, state, options, folder, announce, terminal=None):
        self.state = state
        self.options = options
        self.folder = folder
        self.announce = announce
        self.terminal = terminal
        self.caller = dict(os.environ)
        address = self.caller.get("LATCHKEY_ADDRESS") or "127.0.0.1"
        # Where the services are reached from here.
        self.address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
        self.selector = selectors.DefaultSelector()
        self.processes = []
        self.services = []
        self.postgres = None
        self.server = None
        self.is_adopted = False
        self.watch = None
        self.signals = 0
        self.is_announced = False
        self.is_saved = True
        self.failure = None
        self.wake_reader, self.wake_writer = os.pipe()
        for descriptor in (self.wake_reader, self.wake_writer):
            os.set_blocking(descriptor, False)
        self.reports = []
        self.selector.register(self.wake_reader, selectors.EVENT_READ, self.drain_wake)

    # Life

    def run(self):
        """Returns the exit status."""
        signal.set_wakeup_fd(self.wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGUSR1, self.on_nudge)
        try:
            self.prepare()
            if not self.signals:
                self.start_services()
                self.loop()
        except Problem as problem:
            self.failure = problem
        self.stop_all()
        if self.failure and not self.is_announced:
            self.announce({"problem": str(self.failure)})
            return 1
        return 1 if self.failure else 0

    def on_signal(self, *_):
        self.signals += 1
        if self.signals == 2:
            for process in self.processes:
                process.send(signal.SIGQUIT if process is self.server else signal.SIGKILL)

    def on_nudge(self, *_):
        """`up` was called again: what waits for its next start gets it now."""
        for process in self.processes:
            if process.state in ("restarting", "stopped", "faulty"):
                process.due = time.monotonic()

    def prepare(self):
        own_database = settings.has_own_database(self.caller)
        secrets = settings.Secrets(self.state)
        if own_database:
            secrets.load(has_data=False)
        else:
            self.postgres = Postgres(self.state, self.lines("postgres"))
            secrets.load(has_data=self.postgres.exists)
            self.start_postgres(secrets)
        self.make_services(secrets)

    def start_postgres(self, secrets):
        wait_until_free(self.postgres)
        self.postgres.prepare()
        prefix, command = self.postgres.command
        environment = {name: value for name, value in self.caller.items() if not name.startswith(("PG", "LC_", "LATCHKEY_"))}
        self.server = Process(
            "postgres", prefix, command, environment, self.postgres.log, stop_signal=signal.SIGINT, death_signal="INT",
            directory="/")
        self.processes.append(self.server)
        self.start(self.server)
        end = time.monotonic() + POSTGRES_STARTS_WITHIN
        while True:
            self.step(0.01)
            if self.signals:
                return
            found = self.postgres.postmaster()
            if found and found[1] == "ready":
                break
            if self.server.child is None or time.monotonic() > end:
                lines = logfiles.tail(os.path.join(self.state.logs, "postgres.log"), 20)
                fatal = [line for line in lines if "FATAL" in line or "could not" in line]
                raise Problem(f"Postgres will not start: {(fatal or lines or ['no message'])[-1]}")
        self.postgres.bootstrap({service: secrets.password(service) for service in settings.SERVICES})

    def make_services(self, secrets):
        taken = set(range(self.options.port, self.options.port + self.options.scale["gateway"]))
        wanted = self.caller.get("LATCHKEY_OPERATIONS_PORT")
        next_port = int(wanted) if wanted and wanted.isdigit() and int(wanted) > 0 else None
        for service in settings.SERVICES:
            database_url = self.postgres.url(service, secrets.password(service)) if self.postgres else None
            for number in range(1, self.options.scale[service] + 1):
                name = service if number == 1 else f"{service}-{number}"
                environment = settings.environment(service, self.caller, secrets, self.state, database_url)
                process = Process(name, [], [os.path.join(self.folder, service), "run"], environment, self.lines(name))
                if service == "gateway":
                    process.port = self.options.port + number - 1
                    environment["PORT"] = environment["LATCHKEY_PORT"] = str(process.port)
                    environment.pop("LATCHKEY_OPERATIONS_PORT", None)
                elif wanted != "0":
                    if next_port:
                        process.operations_port = next_port
                        next_port += 1
                    else:
                        process.operations_port = ports.free_port(self.address, taken)
                    taken.add(process.operations_port)
                    environment["LATCHKEY_OPERATIONS_PORT"] = str(process.operations_port)
                self.services.append(process)

    def refresh(self, process):
        """The secrets may have been replaced since the last start."""
        secrets = settings.Secrets(self.state)
        try:
            secrets.load(has_data=True)
        except (Problem, OSError):
            # They are being written.
            return
        told = settings.environment(process.name.split("-")[0], self.caller, secrets, self.state)
        for name in {*settings.PRIVATE, *settings.ACCEPTED.values()}:
            if name in told:
                process.environment[name] = told[name]
            else:
                process.environment.pop(name, None)

    def start_services(self):
        self.processes += self.services
        for process in self.services:
            self.start(process)
        self.watch = health.Watch(self.targets, self.report, READY_WITHIN)
        self.watch.start()

    def targets(self):
        return [(process.name, self.address, process.port or process.operations_port) for process in self.services
                if process.port or process.operations_port]

    def loop(self):
        while not self.signals and not self.failure:
            due = [process.due for process in self.processes if process.due is not None]
            pause = min([max(0.0, moment - time.monotonic()) for moment in due] + [1.0])
            self.step(pause)
            self.start_what_is_due()
            self.follow_adopted()
            if not self.is_saved:
                self.save()

    def start_what_is_due(self):
        for process in self.processes:
            if process.due is not None and process.child is None and process.due <= time.monotonic():
                if process is self.server and self.postgres.postmaster():
                    # Somebody else started it on the same data.
                    process.due = None
                    process.set_state("running (started elsewhere)")
                    self.is_adopted = True
                    self.save()
                    continue
                self.start(process)

    def follow_adopted(self):
        if self.is_adopted and not self.postgres.postmaster():
            self.is_adopted = False
            self.server.plan_restart()
            self.save()

    # Events

    def lines(self, name):
        receivers = [logfiles.LogFile(os.path.join(self.state.logs, f"{name}.log")).write]
        if self.terminal:
            receivers.append(self.terminal.receiver(name))
        return logfiles.Lines(receivers)

    def start(self, process):
        if process in self.services:
            self.refresh(process)
        process.start()
        self.selector.register(process.output, selectors.EVENT_READ, lambda: self.read(process, process.output))
        self.save()

    def step(self, pause):
        """Waits for something to happen, at most so long, and handles it."""
        if self.terminal and self.terminal.waiting:
            pause = min(pause, 0.05)
        found = 0
        for key, _ in self.selector.select(pause):
            found += key.data() or 0
        for is_ready, reason in self.take_reports():
            self.on_report(is_ready, reason)
        for process in self.processes:
            if process.ended():
                self.on_end(process)
        if self.terminal:
            self.terminal.flush(is_writable)
        if 0 < found < MUCH_OUTPUT:
            time.sleep(GATHERING)

    def drain_wake(self):
        try:
            while os.read(self.wake_reader, 4096):
                pass
        except BlockingIOError:
            pass

    def read(self, process, output):
        """Everything that is there, but not for ever: others have something to say too. Returns how many bytes."""
        count = 0
        for _ in range(16):
            try:
                data = os.read(output, 65536)
            except BlockingIOError:
                break
            if not data:
                self.forget(process, output)
                break
            process.lines.feed(data)
            count += len(data)
        return count

    def forget(self, process, output):
        self.selector.unregister(output)
        os.close(output)
        if process.output == output:
            process.output = None
        process.lines.end()

    def on_end(self, process):
        if process.output is not None:
            self.read(process, process.output)
        is_clean_stop = process is self.server and process.exit == "status 0"
        if self.signals or self.failure:
            process.set_state("stopped")
        elif process.exit in [f"status {status}" for status in HOPELESS]:
            process.set_state("faulty")
            self.note(process, f"ended with {process.exit}; it will not be started again until its configuration changes")
            if not self.is_announced:
                lines = logfiles.tail(os.path.join(self.state.logs, f"{process.name}.log"), 20)
                said = [line for line in lines if line.startswith(f"{process.name.split('-')[0]}: ")]
                self.failure = Problem("\n".join(said) or f"{process.name} ended with {process.exit}")
        else:
            pause = process.plan_restart()
            if is_clean_stop:
                process.set_state("stopped")
                pause = PAUSE_AFTER_CLEAN_STOP
                process.due = time.monotonic() + pause
            self.note(process, f"ended with {process.exit}; starting it again in {pause:.1f} s")
        self.save()

    def note(self, process, text):
        process.lines.give(f"latchkey: {process.name} {text}".encode())

    def report(self, is_ready, reason):
        """Called by the thread that watches."""
        self.reports.append((is_ready, reason))
        try:
            os.write(self.wake_writer, b"\0")
        except BlockingIOError:
            pass

    def take_reports(self):
        taken, self.reports = self.reports, []
        return taken

    def on_report(self, is_ready, reason):
        if self.is_announced or self.failure:
            return
        self.is_announced = True
        if is_ready:
            self.announce({"ready": [process.port for process in self.services if process.port]})
        else:
            name = reason.split(" ", 1)[0]
            tail = logfiles.tail(os.path.join(self.state.logs, f"{name}.log"), 10)
            self.announce({"problem": reason, "tail": tail})

    def save(self):
        """Tells `status` and the others. A full disk does not stop what runs: then it is tried again soon."""
        try:
            write_privately(self.state.status, self.description())
            self.is_saved = True
        except OSError:
            self.is_saved = False

    def description(self):
        return json.dumps({
            "pid": os.getpid(),
            "address": self.address,
            "scheme": "https" if self.caller.get("TLS_CERTIFICATE") else "http",
            "executables": self.folder,
            "log": {name: self.caller[name] for name in LOG_SETTINGS if self.caller.get(name)},
            "outbox": os.path.abspath(self.caller.get("CONSOLE_OUTBOX") or self.state.outbox),
            "processes": [
                {
                    "name": process.name,
                    "pid": process.pid or (self.adopted_pid() if process is self.server else None),
                    "state": process.state,
                    "restarts": process.restarts,
                    "since": process.since,
                    "exit": process.exit,
                    "port": process.port,
                    "operationsPort": process.operations_port,
                }
                for process in [*([self.server] if self.server else []), *self.services]
            ],
        }, indent=1) + "\n"

    def adopted_pid(self):
        found = self.postgres.postmaster() if self.is_adopted else None
        return found[0] if found else None

    # The end

    def stop_all(self):
        """In reverse: first what takes requests, Postgres last."""
        if self.watch:
            self.watch.stopped = True
        for group in self.groups():
            for process in group:
                process.due = None
                if process.child is not None:
                    process.set_state("stopping")
                    process.send(process.stop_signal)
            self.save()
            end = time.monotonic() + STOPS_WITHIN
            while any(process.child is not None for process in group):
                self.step(0.05)
                if time.monotonic() > end:
                    end = time.monotonic() + STOPS_WITHIN
                    for process in group:
                        if process.child is not None:
                            self.note(process, "did not stop in time and is killed")
                            process.send(signal.SIGQUIT if process is self.server else signal.SIGKILL)
        self.stop_adopted()
        for process in self.processes:
            process.set_state("stopped")
        self.save()
        if self.terminal:
            self.terminal.flush(is_writable)

    def stop_adopted(self):
        end = time.monotonic() + STOPS_WITHIN
        pid = self.adopted_pid()
        if pid:
            os.kill(pid, signal.SIGINT)
        while self.adopted_pid() and time.monotonic() < end:
            self.step(0.05)

    def groups(self):
        """Gateways; then the services behind them; then Postgres."""
        yield [process for process in self.processes if process.port]
        yield [process for process in self.processes if not process.port and process is not self.server]
        yield [process for process in self.processes if process is self.server]


def is_writable(descriptor):
    return bool(select.select([], [descriptor], [], 0)[1])
