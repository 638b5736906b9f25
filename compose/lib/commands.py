"""What each command does."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

import health
import logfiles
import postgres as database
import settings
import supervisor
import toolchain
from paths import State
from problem import Problem

MOST_INSTANCES = 32
STOPS_WITHIN = 90.0


def parser(name, description):
    return argparse.ArgumentParser(prog=f"compose/{name}", description=description, allow_abbrev=False)


# up

def up(arguments):
    options = up_options(arguments)
    state = State()
    if supervisor.is_running(state):
        return already_running(state, options)
    check_ports(options)
    folder = toolchain.executables()
    try:
        state.prepare()
    except OSError as error:
        raise Problem(f"cannot write to {state.path}: {error.strerror}")
    return start_detached(state, options, folder) if options.detach else start_in_foreground(state, options, folder)


def up_options(arguments):
    parse = parser("up", "Builds Latchkey, starts Postgres and the four services, and keeps them running. Data stays between two starts.")
    parse.add_argument("-d", "--detach", action="store_true", help="return as soon as everything is ready, and leave it running")
    parse.add_argument("--scale", action="append", default=[], metavar="SERVICE=N", help="run a service N times (gateways listen at PORT, PORT+1, …)")
    options = parse.parse_args(arguments)
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
        if not (number.isascii() and number.isdigit()) or int(number) > MOST_INSTANCES or (name == "gateway" and int(number) == 0):
            raise Problem(f"--scale {wish}: {number!r} is not a number from {1 if name == 'gateway' else 0} to {MOST_INSTANCES}", 2)
        counts[name] = int(number)
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
        if not supervisor.is_free(address, number):
            raise Problem(f"port {number} is taken; choose another one with LATCHKEY_PORT")


def already_running(state, options):
    status = supervisor.read_status(state) or {}
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
    lock = supervisor.Lock(state)
    if not lock.take():
        print("Latchkey is already running.")
        return 0
    width = max(len(name) for name in ("postgres", "verification")) + (3 if any(count > 1 for count in options.scale.values()) else 0)
    terminal = logfiles.Terminal(width)

    def announce(message):
        if "ready" in message:
            terminal.write(f"latchkey: ready{at(supervisor.read_status(state))}; Ctrl-C stops everything\n".encode())
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
        print(f"Latchkey is ready{at(supervisor.read_status(state))}")
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

        def tell(message):
            try:
                os.write(writer, json.dumps(message).encode() + b"\n")
                os.close(writer)
            except OSError:
                pass
        lock = supervisor.Lock(state)
        if not lock.take():
            tell({"running": True})
            os._exit(0)
        run = supervisor.Supervisor(state, options, folder, tell)
        status = run.run()
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(status)


# down

def down(arguments):
    parser("down", "Stops what compose/up started, in reverse order. All data stays.").parse_args(arguments)
    state = State()
    status = supervisor.read_status(state)
    if not supervisor.is_running(state):
        print("Latchkey is not running.")
        return 0
    if not status:
        raise Problem(f"{state.status} cannot be read")
    os.kill(status["pid"], signal.SIGTERM)
    end = time.monotonic() + STOPS_WITHIN
    while supervisor.is_running(state):
        if time.monotonic() > end:
            raise Problem(f"process {status['pid']} does not end")
        time.sleep(0.02)
    print("Latchkey is stopped.")
    return 0


# status

def status(arguments):
    parse = parser("status", "Shows every process: service, pid, state. Exit status 0 if all are ready, 3 if nothing runs, 1 otherwise.")
    parse.add_argument("--json", action="store_true", help="print the same as JSON")
    options = parse.parse_args(arguments)
    state = State()
    known = supervisor.read_status(state)
    if not supervisor.is_running(state) or not known:
        print("[]" if options.json else "Latchkey is not running.")
        return 3
    rows = []
    is_fine = True
    for process in known["processes"]:
        detail = ""
        number = process["port"] or process["operationsPort"]
        if process["state"].startswith("running") and number:
            is_ready, reason = health.ask(known["address"], number)
            detail = "ready" if is_ready else f"not ready: {reason}"
            is_fine = is_fine and is_ready
        elif not process["state"].startswith("running"):
            is_fine = False
            detail = f"ended with {process['exit']}" if process["exit"] else ""
        process["detail"] = detail
        rows.append([
            process["name"], str(process["pid"] or "-"), process["state"], str(process["restarts"]), since(process["since"]),
            str(process["port"] or process["operationsPort"] or "-"), detail,
        ])
    if options.json:
        print(json.dumps(known["processes"], indent=1))
    else:
        print_table([["SERVICE", "PID", "STATE", "RESTARTS", "SINCE", "PORT", "HEALTH"], *rows])
    return 0 if is_fine else 1


def since(moment):
    seconds = max(0, int(time.time() - moment))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


# logs

def logs(arguments):
    parse = parser("logs", "Shows what the services and Postgres wrote.")
    parse.add_argument("-f", "--follow", action="store_true", help="go on showing what they write")
    parse.add_argument("-n", "--lines", type=int, default=100, metavar="N", help="how many lines of each (default: 100)")
    parse.add_argument("service", nargs="*", help="only these")
    options = parse.parse_args(arguments)
    state = State()
    try:
        names = sorted(name[:-4] for name in os.listdir(state.logs) if name.endswith(".log"))
    except OSError:
        names = []
    for name in options.service:
        if name not in names:
            raise Problem(f"there is no log of {name!r}" + (f"; there are {', '.join(names)}" if names else ""))
    names = options.service or names
    width = max((len(name) for name in names), default=0)
    for name in names:
        for line in logfiles.tail(os.path.join(state.logs, f"{name}.log"), max(0, options.lines)) if options.lines > 0 else []:
            print(f"{name:<{width}} | {line}")
    if options.follow:
        follow(state, names, width)
    return 0


def follow(state, names, width):
    places = {name: Place(os.path.join(state.logs, f"{name}.log")) for name in names}
    while True:
        for name, place in places.items():
            for line in place.new_lines():
                print(f"{name:<{width}} | {line}", flush=True)
        time.sleep(0.1)


class Place:
    """How far a log has been shown."""

    def __init__(self, path):
        self.path = path
        self.file = None
        self.open(at_end=True)
        self.rest = b""

    def open(self, at_end):
        try:
            self.file = open(self.path, "rb")
            if at_end:
                self.file.seek(0, os.SEEK_END)
        except FileNotFoundError:
            self.file = None

    def new_lines(self):
        if self.file is None:
            self.open(at_end=False)
            if self.file is None:
                return
        data = self.file.read()
        if not data and self.was_rotated():
            self.file.close()
            self.open(at_end=False)
            return
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")

    def was_rotated(self):
        try:
            return os.stat(self.path).st_ino != os.fstat(self.file.fileno()).st_ino
        except FileNotFoundError:
            return False


# code

def code(arguments):
    parse = parser("code", "Prints the newest code that the console delivered to a recipient, and nothing else.")
    parse.add_argument("recipient", help="e-mail address or phone number")
    options = parse.parse_args(arguments)
    state = State()
    path = os.environ.get("CONSOLE_OUTBOX") or (supervisor.read_status(state) or {}).get("outbox") or state.outbox
    wanted = canonical(options.recipient)
    try:
        with open(path, "rb") as file:
            lines = file.readlines()
    except FileNotFoundError:
        lines = []
    for line in reversed(lines):
        try:
            delivery = json.loads(line)
        except ValueError:
            # The last line may be half written.
            continue
        if isinstance(delivery, dict) and delivery.get("code") and canonical(str(delivery.get("to", ""))) == wanted:
            print(delivery["code"])
            return 0
    raise Problem(f"no code was delivered to {options.recipient.strip()}")


def canonical(recipient):
    text = recipient.strip()
    if "@" in text:
        return text.casefold()
    return "".join(character for character in text if character.isdigit() or character == "+")


# postgres

def postgres(arguments):
    parse = parser("postgres", "Runs a program of Postgres on the private server, as its superuser: psql, pg_dump, pg_dumpall, …")
    parse.add_argument("program", help="its name")
    parse.add_argument("argument", nargs=argparse.REMAINDER, help="what it is told")
    options = parse.parse_args(arguments)
    server = database.Postgres(State(), None)
    found = server.postmaster()
    if not found or found[1] != "ready":
        raise Problem("Postgres is not running")
    program = server.program(os.path.basename(options.program))
    if not os.access(program, os.X_OK):
        raise Problem(f"there is no program {options.program!r} in {server.programs}", 2)
    prefix = database.run_as_owner(server.owner, server.state.socket)
    environment = {**database.clean_environment(), "PGHOST": server.socket, "PGPORT": str(database.PORT), "PGUSER": "postgres"}
    environment["PGDATABASE"] = database.DATABASE
    command = [*prefix, program, *options.argument]
    os.execvpe(command[0], command, environment)


# test

def test(arguments):
    import testing
    return testing.main(parser, arguments)
