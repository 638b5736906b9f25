"""compose/up and compose/down."""

import json
import os
import signal
import sys
import time
import traceback

import health
import logfiles
import ports
import running
import settings
import supervisor
import toolchain
from paths import State
from problem import Problem

MOST_INSTANCES = 32
STOPS_WITHIN = 90.0


def up(parser, arguments):
    options = up_options(parser, arguments)
    state = State()
    if running.is_running(state):
        return already_running(state, options)
    check_ports(options)
    folder = toolchain.executables()
    try:
        state.prepare()
    except OSError as error:
        raise Problem(f"cannot write to {state.path}: {error.strerror}")
    return start_detached(state, options, folder) if options.detach else start_in_foreground(state, options, folder)


def up_options(parser, arguments):
    parser.description = "Builds Latchkey, starts Postgres and the four services, and keeps them running. Data stays between two starts."
    parser.add_argument("-d", "--detach", action="store_true", help="return as soon as everything is ready, and leave it running")
    parser.add_argument(
        "--scale", action="append", default=[], metavar="SERVICE=N",
        help="run a service N times (gateways listen at PORT, PORT+1, …)")
    parser.add_argument("--kafka", metavar="HOST:PORT,…", help="keep the log in this Kafka instead of Postgres")
    options = parser.parse_args(arguments)
    if options.kafka:
        # Services are handed this environment.
        os.environ["LATCHKEY_LOG"] = "kafka"
        os.environ["LATCHKEY_KAFKA_BOOTSTRAP_SERVERS"] = options.kafka
    options.scale = scale(options.scale)
    options.port = port()
    if options.port + options.scale["gateway"] - 1 > 65535:
        raise Problem("there are not enough ports for so many gateways", 2)
    return options


def scale(wishes):
    counts = dict.fromkeys(settings.SERVICES, 1)
    for wish in wishes:
        name, _, number = wish.partition("=")
        if name not in counts:
            raise Problem(f"--scale {wish}: there is no service {name!r}; there are {', '.join(settings.SERVICES)}", 2)
        if not (number.isascii() and number.isdigit()) or not int(number) <= MOST_INSTANCES:
            raise Problem(f"--scale {wish}: {number!r} is not a number from 0 to {MOST_INSTANCES}", 2)
        counts[name] = int(number)
    # Nothing could ever be ready. Without any service Postgres runs alone, as is needed to put a backup back.
    if not counts["gateway"] and any(counts.values()):
        raise Problem("--scale gateway=0: without a gateway no service is of use", 2)
    return counts


def port():
    for name in ("LATCHKEY_PORT", "PORT"):
        text = os.environ.get(name)
        if text:
            if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= 65535:
                raise Problem(f"{name} is {text!r}, which is not a port (1 to 65535)")
            return int(text)
    return 3001


def check_ports(options):
    address = os.environ.get("LATCHKEY_ADDRESS") or "127.0.0.1"
    for number in range(options.port, options.port + options.scale["gateway"]):
        if not ports.is_free(address, number):
            raise Problem(f"port {number} is taken; choose another one with LATCHKEY_PORT")


def already_running(state, options):
    status = running.read_status(state) or {}
    if status.get("pid"):
        try:
            os.kill(status["pid"], signal.SIGUSR1)
        except (ProcessLookupError, PermissionError):
            pass
    print(f"Latchkey is already running{at(status)}; stop it with compose/down first to change anything.")
    return wait_until_ready(status) if options.detach else 0


def wait_until_ready(status):
    targets = [("gateway", status["address"], process["port"]) for process in status.get("processes", []) if process["port"]]
    results = []
    watch = health.Watch(lambda: targets, lambda *result: results.append(result), supervisor.READY_WITHIN)
    watch.run()
    is_ready, reason = results[0]
    if not is_ready:
        raise Problem(reason)
    return 0


def at(status):
    ports = [process["port"] for process in status.get("processes", []) if process["port"]]
    if not ports:
        return ""
    host = f"[{status['address']}]" if ":" in status["address"] else status["address"]
    return " at " + ", ".join(f"{status['scheme']}://{host}:{number}" for number in ports)


def start_in_foreground(state, options, folder):
    lock = running.Lock(state)
    if not lock.take():
        print("Latchkey is already running.")
        return 0
    is_scaled = any(count > 1 for count in options.scale.values())
    terminal = logfiles.Terminal(len("verification") + (3 if is_scaled else 0))

    def announce(message):
        if "ready" in message:
            terminal.write(f"latchkey: ready{at(running.read_status(state))}; Ctrl-C stops everything\n".encode())
        else:
            print(f"latchkey: {message['problem']}", file=sys.stderr, flush=True)
    run = supervisor.Supervisor(state, options, folder, announce, terminal)
    return run.run()


def start_detached(state, options, folder):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        run_as_daemon(state, options, folder, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.readline()
    os.waitpid(child, 0)
    message = json.loads(text) if text else {"problem": f"the supervisor ended; see {state.file('logs', 'supervisor.log')}"}
    if "ready" in message:
        print(f"Latchkey is ready{at(running.read_status(state))}")
        return 0
    if "running" in message:
        return already_running(state, options)
    for line in message.get("tail", []):
        print(line, file=sys.stderr)
    print("\n".join(f"latchkey: {line}" for line in message["problem"].split("\n")), file=sys.stderr)
    return 1


def run_as_daemon(state, options, folder, writer):
    """Never returns. Leaves terminal and process group, and tells the waiting `up` how it went."""
    status = 1
    try:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        log = os.open(state.file("logs", "supervisor.log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        # Whoever called `up` may wait for the end of something that was inherited from him.
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2 and int(name) != writer:
                try:
                    os.close(int(name))
                except OSError:
                    # The one that the listing itself was read from.
                    pass

        def tell(message):
            try:
                os.write(writer, json.dumps(message).encode() + b"\n")
                os.close(writer)
            except OSError:
                pass
        lock = running.Lock(state)
        if not lock.take():
            tell({"running": True})
            os._exit(0)
        run = supervisor.Supervisor(state, options, folder, tell)
        status = run.run()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def make_secrets(parser, arguments):
    parser.description = "Makes the secrets of all services, for containers: compose/docker-compose.yml reads them. Starts nothing."
    parser.parse_args(arguments)
    state = State()
    state.prepare()
    made = settings.Secrets(state)
    # A volume may hold data already once this was done before.
    made.load(has_data=os.path.exists(state.file("secrets", "containers")))
    print(f"the secrets are in {os.path.relpath(made.write_for_containers())}")
    return 0


def down(parser, arguments):
    parser.description = "Stops what compose/up started, in reverse order. All data stays."
    parser.parse_args(arguments)
    state = State()
    status = running.read_status(state)
    if not running.is_running(state):
        print("Latchkey is not running.")
        return 0
    if not status:
        raise Problem(f"{state.status} cannot be read")
    os.kill(status["pid"], signal.SIGTERM)
    end = time.monotonic() + STOPS_WITHIN
    while running.is_running(state):
        if time.monotonic() > end:
            raise Problem(f"process {status['pid']} does not end")
        time.sleep(0.02)
    print("Latchkey is stopped.")
    return 0
