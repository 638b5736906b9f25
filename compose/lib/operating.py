"""compose/restart and compose/rotate."""

import json
import os
import secrets as random
import signal
import subprocess
import time

import health
import running
import settings
from paths import REPOSITORY, State, write_privately
from problem import Problem

READY_WITHIN = 120.0


# Restarting


def restart(parser, arguments):
    parser.description = (
        "Restarts services one process after the other, each once the one before is ready again. They read their secrets "
        "anew. Without a failed request where gateways run twice, behind something that leaves out the one that is away.")
    parser.add_argument("service", nargs="*", help=f"only these: {', '.join(settings.SERVICES)}, or processes like gateway-2")
    options = parser.parse_args(arguments)
    restart_all(State(), options.service)
    return 0


def restart_all(state, names):
    known = status_of(state)
    members = [process["name"] for process in known["processes"] if process["name"] != "postgres"]
    for name in names:
        if name not in members and name not in settings.SERVICES:
            raise Problem(f"there is no {name!r}; there are {', '.join(members)}", 2)
    for member in members:
        if not names or member in names or service_of(member) in names:
            restart_one(state, member)
            print(f"{member} runs again", flush=True)


def service_of(member):
    return member.split("-")[0]


def status_of(state):
    known = running.read_status(state)
    if not running.is_running(state) or not known:
        raise Problem("Latchkey is not running", 3)
    return known


def restart_one(state, name):
    before = member(state, name)
    if before["pid"]:
        try:
            os.kill(before["pid"], signal.SIGTERM)
        except ProcessLookupError:
            pass
    end = time.monotonic() + READY_WITHIN
    reason = "does not start"
    while time.monotonic() < end:
        now = member(state, name)
        if now["state"] == "faulty":
            raise Problem(f"{name} ended with {now['exit']}; compose/logs {name} says why")
        if now["pid"] and now["pid"] != before["pid"] and now["state"] == "running":
            port = now["port"] or now["operationsPort"]
            is_ready, reason = health.ask(status_of(state)["address"], port) if port else (True, "")
            if is_ready:
                return
        time.sleep(0.05)
    raise Problem(f"{name} is not ready: {reason}")


def member(state, name):
    for process in status_of(state)["processes"]:
        if process["name"] == name:
            return process
    raise Problem(f"{name} is gone")


# Rotating

MAC_KEYS = "LATCHKEY_LOG_MAC_KEYS"
# What is left to do under an old secret before it may go.
REWRAP = {"IDENTITY_SECRET": ("identity", "keys", "rewrap"), "NOTIFIER_SECRET": ("notifier", "keys", "rewrap")}


def rotate(parser, arguments):
    parser.description = (
        "Replaces one of the secrets that compose/up made, while everything runs: every process is restarted, one after the "
        "other, as often as that takes. What was interrupted goes on where it was when this is called again.")
    parser.add_argument("secret", choices=[MAC_KEYS, *settings.ACCEPTED], help="which one")
    parser.add_argument(
        "--keep", type=int, metavar="SECONDS",
        help="how long what was made under the old one counts (default: an hour for gateways, the lifetime of a code for verification)")
    options = parser.parse_args(arguments)
    state = State()
    status_of(state)
    rotation = Rotation(state, options.secret, options.keep)
    if options.secret == MAC_KEYS:
        rotation.mac_keys()
    else:
        rotation.secret()
    print(f"{options.secret} is replaced", flush=True)
    return 0


class Rotation:
    """How far it has come stands beside the secrets."""

    def __init__(self, state, name, keep):
        self.state = state
        self.name = name
        self.keep = settings.KEEPS.get(name) if keep is None else keep
        self.file = os.path.join(state.secrets, "rotation.json")
        if os.environ.get(name) or os.environ.get(f"{name}_FILE"):
            raise Problem(f"{name} is in the environment, so it is not the one that compose/up made")

    def mac_keys(self):
        if self.phase is None:
            secrets = self.load()
            old = secrets.values[settings.SERVICES[0]][self.name]
            number = 1 + max(int(part.split(":")[0]) for part in old.split(","))
            longer = f"{old},{number}:{random.token_hex(32)}"
            self.change({service: {self.name: longer} for service in settings.SERVICES})
            self.phase = "added"
        restart_all(self.state, [])
        self.command("identity", "mac", "rotate")
        self.phase = None

    def secret(self):
        service = settings.PRIVATE[self.name][0]
        accepted = settings.ACCEPTED[self.name]
        if self.phase is None:
            self.change({service: {accepted: random.token_hex(32)}})
            self.phase = "added"
        if self.phase == "added":
            # Every process can open what the new one closes before any does.
            restart_all(self.state, [service])
            values = self.load().values[service]
            self.change({service: {self.name: values[accepted], accepted: values[self.name]}}, then="swapped")
        if self.phase == "swapped":
            restart_all(self.state, [service])
            if self.name in REWRAP:
                self.command(*REWRAP[self.name])
            else:
                self.rest()
            self.change({service: {accepted: None}}, then="dropped")
        restart_all(self.state, [service])
        self.phase = None

    def rest(self):
        # No process makes anything under the old one any more.
        print(f"what was made under the old one counts for {self.keep} s more", flush=True)
        time.sleep(self.keep)

    def command(self, service, *arguments):
        command = [os.path.join(REPOSITORY, "compose", "run"), service, *arguments]
        if subprocess.run(command, stdin=subprocess.DEVNULL).returncode != 0:
            raise Problem(f"'{service} {' '.join(arguments)}' has failed; call this again when that is put right")

    def load(self):
        secrets = settings.Secrets(self.state)
        secrets.load(has_data=True)
        return secrets

    def change(self, changes, then=None):
        secrets = self.load()
        for service, values in changes.items():
            secrets.replace(service, values)
        if then:
            self.phase = then

    @property
    def known(self):
        try:
            with open(self.file) as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    @property
    def phase(self):
        return self.known.get(self.name)

    @phase.setter
    def phase(self, value):
        known = self.known
        known.pop(self.name, None)
        if value:
            known[self.name] = value
        write_privately(self.file, json.dumps(known, indent=1) + "\n", durably=True)
