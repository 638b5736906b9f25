"""compose/bench: how fast a Latchkey of its own is, each number beside its limit, taken in the same run."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import bench_limits
import bench_oracle
import bench_rebuild
import bench_report
import toolchain
from bench_system import Broker, System
from paths import REPOSITORY
from problem import Problem

PROGRAMS = ("load", "history", "limit-server", "limit-kafka", "limit-postgres", "limit-argon2")
BACKENDS = ("postgres", "kafka")
CONNECTIONS = (1, 32, 256)
# Before anything counts: connections are made, plans cached, pages touched, and a broker has compiled its code, by log.
WARM_UP_SECONDS = {"postgres": 20, "kafka": 60}


def bench(parser, arguments):
    parser.description = (
        "Builds, starts a Latchkey of its own in a temporary folder, and measures /healthz, send, confirm and the pair of them, "
        "on the embedded log and on Kafka.")
    parser.add_argument("--kafka", metavar="HOST:PORT,…", help="this Kafka; otherwise ../shared/kafka, where it is, is started")
    parser.add_argument("--only", choices=BACKENDS, action="append", help="only this log")
    parser.add_argument("--connections", default=",".join(map(str, CONNECTIONS)), metavar="N,…", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=5, metavar="N", help="for each measurement (default: %(default)s)")
    parser.add_argument(
        "--warm-up", type=float, metavar="N",
        help="seconds of load before anything counts (default: " + ", ".join(
            f"{seconds} on {backend}" for backend, seconds in WARM_UP_SECONDS.items()) + ")")
    parser.add_argument("--partitions", type=int, default=12, metavar="N", help="of every topic (default: %(default)s)")
    parser.add_argument(
        "--oracle", nargs="?", type=int, const=10_000, metavar="N",
        help="instead: compare the times of N requests (10000) for identifiers with and without an account, by endpoint")
    parser.add_argument(
        "--rebuild", nargs="?", type=int, const=1_000_000, metavar="EVENTS",
        help="instead: make a log of so many events (1000000) and rebuild the tables of Identity from it")
    parser.add_argument("--format", choices=("table", "jsonl"), default="table", help="default: %(default)s")
    options = parser.parse_args(arguments)
    options.connections = numbers(options.connections)
    if options.oracle is not None and not 2 <= options.oracle <= 1_000_000:
        raise Problem("--oracle is not a number from 2 to 1000000", 2)
    if options.rebuild is not None and not 12 <= options.rebuild <= 100_000_000:
        raise Problem("--rebuild is not a number from 12 to 100000000", 2)
    if not 1 <= options.partitions <= 1_000:
        raise Problem("--partitions is not a number from 1 to 1000", 2)
    if options.warm_up is not None and not 0 < options.warm_up <= 3_600:
        raise Problem("--warm-up is not more than 0 and at most 3600", 2)
    if not 0 < options.seconds <= 60:
        raise Problem("--seconds is not more than 0 and at most 60", 2)
    os.environ["LATCHKEY_BENCHMARKS"] = "yes"
    folder = toolchain.executables()
    for name in PROGRAMS if options.rebuild is None else ("history",):
        if not os.access(os.path.join(folder, name), os.X_OK):
            raise Problem(f"there is no executable {name} in {folder}")
    # So that whoever ends this ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = None
    if options.rebuild is None:
        report = bench_report.FORMATS[options.format](options) if options.oracle is None else bench_oracle.Report(options)
        report.begin()
    for backend in BACKENDS:
        if options.only and backend not in options.only:
            continue
        with workplace(backend, options, folder) as place:
            if not place:
                continue
            if report:
                run(backend, options, folder, report, *place)
            else:
                bench_rebuild.measure(backend, options.rebuild, folder, *place)
    if report:
        report.end()
    return 0


def numbers(text):
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 < number <= 512 for number in found):
        raise Problem("--connections is not a list of numbers from 1 to 512", 2)
    return found


@contextlib.contextmanager
def workplace(backend, options, programs):
    """A folder, and for Kafka a broker; both are gone afterwards. Nothing where there is no broker."""
    # One that Postgres' user can reach, whose path is short enough for a socket.
    folder = tempfile.mkdtemp(prefix="latchkey-bench-")
    os.chmod(folder, 0o711)
    broker = None
    try:
        if backend == "kafka":
            broker = find_broker(options, folder, programs)
            if not broker:
                print("latchkey: kafka is left out: --kafka names none, and there is no ../shared/kafka", file=sys.stderr)
        yield (folder, broker) if broker or backend != "kafka" else None
    finally:
        if broker:
            broker.stop()
        shutil.rmtree(folder, ignore_errors=True)


def run(backend, options, programs, report, folder, broker):
    system = System(folder, programs, broker, options.partitions)
    try:
        if options.oracle is not None:
            system.environment["SIGNUP_PROOF"] = "required"
        system.start()
        if options.oracle is not None:
            return bench_oracle.measure(system, options.oracle, backend, report)
        load = Load(system, programs, report)
        load.warm_up(options, options.warm_up or WARM_UP_SECONDS[backend])
        for connections in options.connections:
            limits = bench_limits.take(system, programs, connections, options.seconds)
            load.measure(backend, "healthz", connections, options.seconds, limits)
            load.measure(backend, "send+confirm", connections, options.seconds, limits)
            load.measure(backend, "pair", connections, options.seconds, limits)
            load.measure(backend, "accounts", connections, options.seconds, limits)
    finally:
        system.stop()


def find_broker(options, folder, programs):
    if options.kafka:
        return Broker(options.kafka, programs)
    command = os.path.join(os.path.dirname(REPOSITORY), "shared", "kafka", "kafka")
    if os.access(command, os.X_OK) and shutil.which("java"):
        return Broker.started(command, os.path.join(folder, "kafka"), programs)
    return None


class Load:
    """Runs the load generator, and notes what each measurement costs."""

    def __init__(self, system, programs, report):
        self.system = system
        self.program = os.path.join(programs, "load")
        self.report = report
        # Every identifier and every client address is used once.
        self.next = 0

    def warm_up(self, options, seconds):
        for workload, duration in (("healthz", 1), ("pair", seconds)):
            self.run(workload, max(options.connections), duration, lambda *_: None)

    def measure(self, backend, workload, connections, seconds, limits):
        def note(result, cost):
            self.report.row(backend, connections, result, cost, limits)
        self.run(workload, connections, seconds, note)

    def run(self, workload, connections, seconds, note):
        command = [self.program, workload, "--port", str(self.system.port), "--connections", str(connections)]
        command += ["--seconds", str(seconds), "--first", str(self.next), "--outbox", self.system.state.outbox]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            while child.stdout.readline().startswith("ready"):
                before = self.system.costs(child.pid)
                child.stdin.write("\n")
                child.stdin.flush()
                line = child.stdout.readline()
                if not line:
                    break
                result = json.loads(line)
                self.next = max(self.next, result["next"])
                note(result, self.system.costs(child.pid).since(before))
            if child.wait() != 0:
                raise Problem(f"the load generator ended with status {child.returncode}")
        finally:
            child.kill()
            child.wait()
