"""compose/status, compose/logs, compose/code, compose/postgres and compose/run."""

import argparse
import json
import os
import time

import health
import logfiles
import postgres as database
import running
import settings
from paths import State
from problem import Problem


def status(parser, arguments):
    parser.description = "Shows every process: service, pid, state. Exit status 0: all are ready; 3: nothing runs; 1: otherwise."
    parser.add_argument("--json", action="store_true", help="print the same as JSON")
    options = parser.parse_args(arguments)
    state = State()
    known = running.read_status(state)
    if not running.is_running(state) or not known:
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


def logs(parser, arguments):
    parser.description = "Shows what the services and Postgres wrote."
    parser.add_argument("-f", "--follow", action="store_true", help="go on showing what they write")
    parser.add_argument("-n", "--lines", type=int, default=100, metavar="N", help="how many lines of each (default: 100)")
    parser.add_argument("service", nargs="*", help="only these")
    options = parser.parse_args(arguments)
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


def code(parser, arguments):
    parser.description = "Prints the newest code that the console delivered to a recipient, and nothing else."
    parser.add_argument("recipient", help="e-mail address or phone number")
    options = parser.parse_args(arguments)
    state = State()
    path = os.environ.get("CONSOLE_OUTBOX") or (running.read_status(state) or {}).get("outbox") or state.outbox
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


def postgres(parser, arguments):
    parser.description = "Runs a program of Postgres on the private server, as its superuser: psql, pg_dump, pg_dumpall, …"
    parser.add_argument("program", help="its name")
    parser.add_argument("argument", nargs=argparse.REMAINDER, help="what it is told")
    options = parser.parse_args(arguments)
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


def run(parser, arguments):
    parser.description = "Runs a command of a service, such as `compose/run identity audit log`, with what the running ones are told."
    parser.add_argument("service", choices=settings.SERVICES, help="its name")
    parser.add_argument("argument", nargs=argparse.REMAINDER, help="what it is told")
    options = parser.parse_args(arguments)
    state = State()
    status = running.read_status(state)
    if not running.is_running(state) or not status:
        raise Problem("Latchkey is not running")
    if not options.argument or options.argument[0] == "run":
        raise Problem(f"{options.service} what? Services are started by compose/up", 2)
    secrets = settings.Secrets(state)
    secrets.load(has_data=True)
    url = None
    if not settings.has_own_database(os.environ):
        url = database.Postgres(state, None).url(options.service, secrets.password(options.service))
    environment = settings.environment(options.service, {**status["log"], **os.environ}, secrets, state, url)
    program = os.path.join(status["executables"], options.service)
    os.execve(program, [program, *options.argument], environment)
