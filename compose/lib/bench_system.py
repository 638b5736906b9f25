"""A Latchkey that is started for measurements alone, and what it costs while it works."""

import os
import secrets
import subprocess
import time

import postgres
import running
import settings
from paths import REPOSITORY, State
from ports import free_port, is_free
from problem import Problem

TICKS = os.sysconf("SC_CLK_TCK")


class Broker:
    """A Kafka, and the prefix of the topics that belong to this run."""

    def __init__(self, servers, programs):
        self.servers = servers
        self.program = os.path.join(programs, "limit-kafka")
        self.prefix = f"bench-{secrets.token_hex(4)}."
        self.command = None
        self.folder = None

    @classmethod
    def started(cls, command, folder, programs):
        # The controller listens a thousand above.
        port = next(port for port in range(20092, 64000, 7) if is_free("127.0.0.1", port) and is_free("127.0.0.1", port + 1000))
        result = subprocess.run(
            [command, "start", folder, "1", str(port)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise Problem(f"Kafka will not start: {result.stdout.strip()}")
        broker = cls(f"127.0.0.1:{port}", programs)
        broker.command = command
        broker.folder = folder
        return broker

    @property
    def pid(self):
        """`None` where it is somebody else's."""
        if not self.folder:
            return None
        with open(os.path.join(self.folder, "1.pid")) as file:
            return int(file.read())

    def records(self):
        return int(subprocess.run(
            [self.program, "records", self.servers, self.prefix], stdout=subprocess.PIPE, text=True, check=True).stdout)

    def stop(self):
        if self.command:
            subprocess.run([self.command, "stop", self.folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        else:
            subprocess.run([self.program, "remove", self.servers, self.prefix])


class System:
    def __init__(self, folder, programs, broker, partitions):
        self.partitions = partitions
        self.state = State(os.path.join(folder, "state"))
        self.broker = broker
        self.port = free_port("127.0.0.1", ())
        # Nothing of the caller's own Latchkey.
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("LATCHKEY_", "LIMIT_", "PG")) and name not in settings.PRIVATE
        }
        self.environment |= {
            "LATCHKEY_STATE": self.state.path, "LATCHKEY_PORT": str(self.port), "LATCHKEY_BIN": programs,
            "TRUSTED_PROXIES": "127.0.0.1/32", "LATCHKEY_PARTITIONS": str(partitions),
        }
        if broker:
            self.environment["LATCHKEY_KAFKA_PREFIX"] = broker.prefix

    def start(self):
        self.compose("up", "--detach", *(["--kafka", self.broker.servers] if self.broker else []))
        # Measurements begin at its end.
        with open(self.state.outbox, "ab"):
            pass

    def stop(self):
        self.compose("down", check=False)

    def compose(self, command, *arguments, check=True):
        result = subprocess.run(
            [os.path.join(REPOSITORY, "compose", command), *arguments], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check and result.returncode != 0:
            raise Problem(f"compose/{command} has failed: {result.stdout.strip()}")

    def records(self):
        """How many records the log holds."""
        if self.broker:
            return self.broker.records()
        server = postgres.Postgres(self.state, None)
        command = [*postgres.run_as_owner(server.owner, self.state.socket), server.program("psql"), "--no-psqlrc", "-At"]
        command += ["--host", server.socket, "--port", str(postgres.PORT), "--username", "postgres", postgres.DATABASE]
        result = subprocess.run(
            [*command, "--command", "SELECT sum(next_offset) FROM log.partitions"], cwd="/", env=postgres.clean_environment(),
            stdout=subprocess.PIPE, text=True, check=True)
        return int(result.stdout)

    def costs(self, load):
        """`load`: the process id of the load generator."""
        status = running.read_status(self.state) or {}
        roots = {process["name"]: process["pid"] for process in status.get("processes", []) if process["pid"]}
        roots["load"] = load
        if self.broker and self.broker.pid:
            roots["kafka"] = self.broker.pid
        records = self.records()
        return Costs(cpu_of(roots), records, busy_time(), time.monotonic())


class Costs:
    """What had been used up at one time."""

    def __init__(self, cpu, records, busy, moment):
        self.cpu = cpu
        self.records = records
        self.busy = busy
        self.moment = moment

    def since(self, before):
        cpu = {name: seconds - before.cpu.get(name, 0) for name, seconds in self.cpu.items()}
        return Costs(cpu, self.records - before.records, self.busy - before.busy, self.moment - before.moment)

    @property
    def elsewhere(self):
        """The share of all processors that others than the measured had meanwhile."""
        return max(0.0, self.busy - sum(self.cpu.values())) / (self.moment * os.cpu_count())


def cpu_of(roots):
    """Seconds of CPU by name, of processes and all below them, those that have ended included."""
    children = {}
    times = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(name))
        times[int(name)] = sum(map(int, fields[11:15])) / TICKS

    def total(pid):
        return times.get(pid, 0) + sum(total(child) for child in children.get(pid, []))
    return {name: total(pid) for name, pid in roots.items()}


def busy_time():
    """Seconds of all processors together in which they were not idle."""
    with open("/proc/stat") as file:
        user, nice, system, idle, iowait, interrupts, soft, stolen = map(int, file.readline().split()[1:9])
    return (user + nice + system + interrupts + soft + stolen) / TICKS
