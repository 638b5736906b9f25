"""compose/bench --oracle: whether times tell who has an account.

Every endpoint is asked for identifiers with and without an account, in random order, each for the first time and from an address
of its own: one after the other over one connection, or, where answers are held back, over a few that take turns. The area under
the curve is the probability that a request for a known identifier took longer than one for an unknown identifier: 0.5 tells
nothing.
"""

import base64
import gc
import json
import os
import random
import selectors
import socket
import time

from problem import Problem

PASSWORD = "Correct-Horse-7"
# argon2id of that password, at the cost of a new hash.
HASH = "$argon2id$v=19$m=19456,t=2,p=1$"
GOAL = 0.02
# Identifiers of either kind have the same length.
KINDS = ("known", "other")
# Requests whose answers are not held back: nothing looks at an account for them.
FREE = ("send", "confirm", "register")
# Connections, and the time between their first requests in seconds, where answers are held back for a tenth of a second.
TURNS = 8
TURN = 0.1 / TURNS
HEADINGS = ("request", "samples", "area", "chance", "p50 known", "p50 other", "answers")
WIDTHS = (24, 8, 7, 7, 10, 10, 24)


def measure(system, samples, backend, report):
    """At a system with `SIGNUP_PROOF=required`, where no sign-up tells of accounts."""
    count = samples // 2
    import_users(system, count)
    run = Run(system, count)
    report.backend(backend)
    for name, make in requests().items():
        report.row(backend, name, run.measure(make, 1 if name in FREE else TURNS))


def requests():
    """Each takes what an identifier knows and gives the request. They stand in an order in which one prepares the next."""
    def post(path, **body):
        return lambda about: ("POST", path, {**body, **about.named(path)}, None)

    def in_session(method, path, body):
        return lambda about: (method, path, body, about.token)
    return {
        "login": post("/api/auth/login", password="Wrong-Horse-8"),
        "send": post("/api/verification/send", channel="email", purpose="email_verification"),
        "confirm": post("/api/verification/confirm", code="000000", purpose="email_verification"),
        "register": post("/api/auth/register", password=PASSWORD, code="000001"),
        "forgot-password": post("/api/auth/forgot-password"),
        "verify-reset-code": post("/api/auth/verify-reset-code", code="000000"),
        "send password_reset": post("/api/verification/send", channel="email", purpose="password_reset"),
        "confirm password_reset": post("/api/verification/confirm", code="000000", purpose="password_reset"),
        "onboarding/session": post("/api/onboarding/session", password=PASSWORD),
        "onboarding/session PATCH": in_session("PATCH", "/api/onboarding/session", {"displayName": "Zoe"}),
        "onboarding/complete": in_session("POST", "/api/onboarding/complete", {}),
    }


class Identifier:
    def __init__(self, kind, number):
        self.kind = kind
        self.email = f"{kind}-{number:06d}@oracle.example"
        self.token = None

    def named(self, path):
        return {"identifier" if path.startswith("/api/verification/") else "email": self.email}


class Run:
    def __init__(self, system, count):
        self.port = system.port
        self.identifiers = {kind: [Identifier(kind, number) for number in range(count)] for kind in KINDS}
        self.addresses = 0

    def measure(self, make, connections):
        """Times in nanoseconds and answers, by kind."""
        times = {kind: [] for kind in KINDS}
        answers = {kind: {} for kind in KINDS}
        order = [identifier for kind in KINDS for identifier in self.identifiers[kind]]
        random.shuffle(order)
        clients = [Client(self.port) for _ in range(connections)]
        # A collection would fall on some samples only.
        gc.disable()
        try:
            for identifier, took, status, body in self.ask(clients, make, order):
                times[identifier.kind].append(took)
                answer = str(status)
                if status >= 400:
                    answer += " " + json.loads(body)["error"]["code"]
                elif b"onboardingToken" in body:
                    identifier.token = json.loads(body)["data"]["onboardingToken"]
                answers[identifier.kind][answer] = answers[identifier.kind].get(answer, 0) + 1
        finally:
            gc.enable()
            for client in clients:
                client.close()
        return times, answers

    def ask(self, clients, make, order):
        """Each client asks for one after the other, as long as there are any. Gives identifiers with their answers."""
        waiting = iter(order)

        def begin(client):
            identifier = next(waiting, None)
            if identifier is None:
                return False
            self.addresses += 1
            client.begin(identifier, *make(identifier), self.addresses)
            return True
        with selectors.DefaultSelector() as selector:
            for number, client in enumerate(clients):
                time.sleep(TURN if number else 0)
                if begin(client):
                    selector.register(client.socket, selectors.EVENT_READ, client)
            while selector.get_map():
                # The time of all that are there first.
                received = [(key.data, key.data.receive()) for key, _ in selector.select()]
                for client, answer in received:
                    if answer:
                        identifier = client.identifier
                        if not begin(client):
                            selector.unregister(client.socket)
                        yield (identifier, *answer)


class Client:
    """One connection that is kept, with one request at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        self.socket.close()

    def begin(self, identifier, method, path, body, token, address):
        data = json.dumps(body)
        lines = [
            f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {len(data)}",
            f"X-Forwarded-For: 11.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}",
        ]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        request = ("\r\n".join(lines) + "\r\n\r\n" + data).encode()
        self.identifier = identifier
        self.answer = b""
        self.start = time.perf_counter_ns()
        self.socket.sendall(request)

    def receive(self):
        """Nanoseconds, status and body, once all of the answer is there."""
        part = self.socket.recv(65536)
        now = time.perf_counter_ns()
        if not part:
            raise Problem("a connection was closed")
        self.answer += part
        head, found, rest = self.answer.partition(b"\r\n\r\n")
        if found and len(rest) >= int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]):
            return now - self.start, int(self.answer[9:12]), rest
        return None


def area(known, other):
    """The area under the curve, by ranks; what is equal counts half."""
    both = sorted([(value, True) for value in known] + [(value, False) for value in other])
    ranks, index = 0.0, 0
    while index < len(both):
        end = index
        while end < len(both) and both[end][0] == both[index][0]:
            end += 1
        ranks += (index + end + 1) / 2 * sum(is_known for _, is_known in both[index:end])
        index = end
    return (ranks - len(known) * (len(known) + 1) / 2) / (len(known) * len(other))


def import_users(system, count):
    """Users that are there already."""
    path = os.path.join(system.state.path, "users.jsonl")
    with open(path, "w") as file:
        for number in range(count):
            user = {"email": Identifier(KINDS[0], number).email, "passwordHash": password_hash()}
            file.write(json.dumps(user) + "\n")
    system.compose("run", "identity", "import", path)


def password_hash():
    """Of nobody's password: only wrong ones are entered, and what a check costs is the same."""
    salt, digest = os.urandom(16), os.urandom(32)
    return HASH + "$".join(base64.b64encode(part).decode().rstrip("=") for part in (salt, digest))


class Report:
    def __init__(self, options):
        self.is_table = options.format == "table"
        self.is_told = False

    def begin(self):
        pass

    def backend(self, backend):
        if self.is_table:
            print(f"\n{backend}: what times tell of accounts (area under the curve; goal 0.5 ± {GOAL})\n")
            self.line(HEADINGS)

    def row(self, backend, name, measured):
        times, answers = measured
        known, other = (times[kind] for kind in KINDS)
        found = area(known, other)
        # By how much it varies where there is no difference at all, two standard deviations.
        chance = 2 * ((len(known) + len(other) + 1) / (12 * len(known) * len(other))) ** 0.5
        medians = [sorted(values)[len(values) // 2] / 1e6 for values in (known, other)]
        self.is_told |= abs(found - 0.5) > GOAL + chance or set(answers[KINDS[0]]) != set(answers[KINDS[1]])
        if not self.is_table:
            row = {"backend": backend, "request": name, "samples": len(known) + len(other), "area": found, "chance": chance}
            print(json.dumps({**row, "p50": dict(zip(KINDS, medians)), "answers": answers}), flush=True)
            return
        kinds = [" ".join(f"{answer} {count}" for answer, count in sorted(answers[kind].items())) for kind in KINDS]
        self.line((
            name, len(known) + len(other), f"{found:.3f}", f"±{chance:.3f}", *(f"{median:.2f} ms" for median in medians),
            kinds[0] if kinds[0] == kinds[1] else " / ".join(kinds)))

    def line(self, cells):
        print("  ".join(str(cell).rjust(width) for cell, width in zip(cells, WIDTHS)), flush=True)

    def end(self):
        if self.is_table:
            print("\nchance: by how much the area varies where there is nothing to tell, in 95 of 100 measurements.")
            if self.is_told:
                print("Something is told: see the areas that are further from 0.5, and the answers that differ.")
