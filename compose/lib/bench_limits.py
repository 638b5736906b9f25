"""What this machine could do at best: each number that is measured stands beside one of these."""

import json
import os
import re
import secrets
import subprocess

import postgres
from paths import REPOSITORY
from problem import Problem

ROLE = "limits"
LOG_SCHEMA = os.path.join(REPOSITORY, "Shared", "EventLog", "Postgres", "Migrations", "0001_log.sql")
SCHEMA = """
SET ROLE limits;
CREATE SCHEMA log;
{log}
INSERT INTO log.topics VALUES (1, 'commands', 3600000), (2, 'events', NULL), (3, 'replies', 3600000);
INSERT INTO log.partitions (topic, partition) SELECT id, 0 FROM log.topics;
CREATE TABLE public.commits (row bytea);
"""
# Memory in KiB and passes of a new password hash, where nothing else is configured.
HASH = ("19456", "2")
# One small durable commit.
COMMIT = "INSERT INTO public.commits VALUES (convert_to(repeat('v', 400), 'UTF8'));\n"


def take(system, programs, connections, seconds):
    """Limits by name: `server`, `log`, `hash` as libsodium makes them by itself, `kept hash` in memory that is kept (each count,
    seconds, p50 and p99 in microseconds), `commits` (per second)."""
    database = Database(system)
    return {
        "server": server(programs, connections, seconds),
        "log": round_trips(system, database, programs, connections, seconds),
        "hash": hashes(programs, seconds),
        "kept hash": hashes(programs, seconds, "kept"),
        "commits": database.commits(connections, seconds),
    }


def hashes(programs, seconds, *memory):
    return json.loads(run([os.path.join(programs, "limit-argon2"), *HASH, str(seconds), *memory]))


def server(programs, connections, seconds):
    child = subprocess.Popen(
        [os.path.join(programs, "limit-server")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = child.stdout.readline().strip()
        command = [os.path.join(programs, "load"), "healthz", "--port", port, "--connections", str(connections)]
        output = run([*command, "--seconds", str(seconds)], input="\n")
        return json.loads(output.split("\n")[1])
    finally:
        child.kill()
        child.wait()


def round_trips(system, database, programs, connections, seconds):
    if system.broker:
        command = [os.path.join(programs, "limit-kafka"), "round-trips", system.broker.servers, system.broker.prefix]
        command.append(str(system.partitions))
    else:
        command = [os.path.join(programs, "limit-postgres"), database.url]
    return json.loads(run([*command, str(connections), str(seconds)]))


def run(command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=180, **more)
    if result.returncode != 0:
        raise Problem(f"{os.path.basename(command[0])} ended with status {result.returncode}")
    return result.stdout


class Database:
    """A database of its own on the system's Postgres."""

    def __init__(self, system):
        self.server = postgres.Postgres(system.state, None)
        self.server.prefix = postgres.run_as_owner(self.server.owner, system.state.socket)
        self.folder = system.state.path
        password = secrets.token_hex(16)
        self.url = self.server.url(ROLE, password, ROLE)
        with open(LOG_SCHEMA) as file:
            schema = SCHEMA.format(log=file.read())
        self.server.psql("postgres", (
            f"DROP DATABASE IF EXISTS {ROLE};\nDROP ROLE IF EXISTS {ROLE};\n"
            f"CREATE ROLE {ROLE} LOGIN PASSWORD '{password}';\nCREATE DATABASE {ROLE} OWNER {ROLE};\n"))
        self.server.psql(ROLE, f"ALTER SCHEMA public OWNER TO {ROLE};\n{schema}")

    def commits(self, connections, seconds):
        script = os.path.join(self.folder, "commit.sql")
        with open(script, "w") as file:
            file.write(COMMIT)
        # More clients than this do not make more commits.
        command = [self.server.program("pgbench"), "--no-vacuum", "--protocol", "prepared", "--client", str(min(connections, 64))]
        command += ["--time", str(max(1, round(seconds))), "--file", script, self.url]
        found = re.search(r"^tps = ([0-9.]+)", run(command, stderr=subprocess.DEVNULL), re.MULTILINE)
        if not found:
            raise Problem("pgbench says nothing of commits per second")
        return float(found[1])
