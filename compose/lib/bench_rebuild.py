"""compose/bench --rebuild: how fast the tables are made anew from the log, beside what bounds that."""

import base64
import json
import os
import re
import secrets
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from ports import free_port
from postgres import PORT, clean_environment
from problem import Problem
from throwaway import Throwaway

TABLES = """
    users identifiers onboarding_sessions verified_contacts sessions ended_sessions devices login_failures sign_up_notices
    outcomes
""".split()


def measure(backend, events, programs, folder, broker):
    """Prints what was measured, line by line. Everything is made below `folder`."""
    server = Server(folder)
    try:
        bench = Bench(server, programs, broker)
        bench.provision()
        print(f"{backend}: {events} events, made in {bench.json('history', 'generate', str(events))['seconds']:.0f} s", flush=True)
        read = bench.json("history", "read")["seconds"]
        print(f"  read with MAC and chain   {events / read:>10,.0f} events/s  {read:.1f} s", flush=True)
        seconds, peak, told = bench.rebuild()
        print(f"  rebuild                   {events / seconds:>10,.0f} events/s  {seconds:.1f} s, {peak} MiB", flush=True)
        copy, rows = bench.copy(folder)
        print(f"  COPY of the {rows:,} rows  {events / copy:>10,.0f} events/s  {copy:.1f} s", flush=True)
        again = bench.json("history", "read")["seconds"]
        slower = max(min(read, again), copy)
        print(f"  the slower of both takes {slower:.1f} s: {slower / seconds:.2f} of its speed", flush=True)
        asked, told = bench.rebuild_while_asked()
        print(f"  under requests: {asked['answered']} answered, {asked['unanswered']} not, the longest wait "
              f"{asked['longest'] * 1000:.0f} ms; {told}", flush=True)
        print("  verify: " + bench.run("identity", "rebuild", "--verify").strip().split("\n")[-1], flush=True)
    finally:
        server.stop()


class Server:
    """A Postgres of its own, and a database in it."""

    def __init__(self, folder):
        self.server = Throwaway(
            os.path.join(folder, "server"), os.path.join(folder, "postgres.log"), clean_environment(), "bench")
        self.postgres = self.server.postgres
        self.postgres.psql("postgres", "CREATE DATABASE bench;\n")
        self.url = self.server.url("bench")

    def psql(self, *options):
        """A command line."""
        command = [*self.postgres.prefix, self.postgres.program("psql"), "--no-psqlrc", "-qAt", "--set", "ON_ERROR_STOP=1"]
        return [*command, "--host", self.postgres.socket, "--port", str(PORT), "--username", "postgres", "bench", *options]

    def query(self, script):
        return subprocess.run(
            self.psql("--file", "-"), cwd="/", env=clean_environment(), input=script, stdout=subprocess.PIPE, text=True,
            check=True).stdout

    def stop(self):
        self.server.stop()


class Bench:
    def __init__(self, server, programs, broker):
        self.server = server
        self.programs = programs

        def key():
            return base64.b64encode(secrets.token_bytes(32)).decode()
        self.environment = {name: value for name, value in clean_environment().items() if not name.startswith("LATCHKEY_")}
        self.environment |= {
            "LATCHKEY_DATABASE_URL": server.url, "LATCHKEY_ENV": "development", "LATCHKEY_LOG": "postgres",
            "LATCHKEY_LOG_MAC_KEYS": f"1:{key()}", "LATCHKEY_ROUTING_SECRET": key(), "IDENTITY_SECRET": key(),
        }
        if broker:
            self.environment |= {
                "LATCHKEY_LOG": "kafka", "LATCHKEY_KAFKA_BOOTSTRAP_SERVERS": broker.servers,
                "LATCHKEY_KAFKA_PREFIX": broker.prefix,
            }

    def run(self, program, *arguments, timeout=3600):
        result = subprocess.run(
            [os.path.join(self.programs, program), *arguments], env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=timeout)
        if result.returncode != 0:
            raise Problem(f"{program} {arguments[0]} failed: {result.stdout.strip()} {result.stderr.strip()[-500:]}")
        return result.stdout

    def json(self, program, *arguments):
        return json.loads(self.run(program, *arguments))

    def provision(self):
        """An Identity makes log and tables when it starts."""
        with Identity(self):
            pass

    def rebuild(self):
        """Seconds, peak memory in MiB, and what it said."""
        start = time.monotonic()
        child = subprocess.Popen(
            [os.path.join(self.programs, "identity"), "rebuild"], env=self.environment, stdout=subprocess.PIPE, text=True)
        said = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise Problem(f"the rebuild failed: {said.strip()}")
        return time.monotonic() - start, usage.ru_maxrss // 1024, said

    def copy(self, folder):
        """How long the resulting rows take to be copied into empty tables, and how many there are."""
        place = tempfile.mkdtemp(dir=folder)
        self.server.postgres.give(place)
        files = {table: os.path.join(place, table) for table in TABLES}
        self.server.query("".join(
            f"COPY identity.{table} TO '{path}' (FORMAT binary);\n" for table, path in files.items()))
        self.server.query("CREATE SCHEMA copied;\n" + "".join(
            f"CREATE TABLE copied.{table} (LIKE identity.{table} INCLUDING ALL EXCLUDING INDEXES);\n" for table in TABLES))
        # As many at once as a rebuild has threads.
        lanes = [TABLES[0::2], TABLES[1::2]]
        start = time.monotonic()
        children = [
            subprocess.Popen(
                self.server.psql(*(word for table in lane for word in (
                    "--command", f"COPY copied.{table} FROM '{files[table]}' (FORMAT binary)"))),
                cwd="/", env=clean_environment())
            for lane in lanes]
        for child in children:
            if child.wait() != 0:
                raise Problem("the rows could not be copied")
        seconds = time.monotonic() - start
        rows = sum(int(self.server.query(f"SELECT count(*) FROM copied.{table}")) for table in TABLES)
        self.server.query("SET client_min_messages = warning;\nDROP SCHEMA copied CASCADE")
        return seconds, rows

    def rebuild_while_asked(self):
        with Identity(self):
            # It asks for longer than the rebuild takes, and says how it was when it is told to end.
            asking = subprocess.Popen(
                [os.path.join(self.programs, "history"), "ask", "30"], env=self.environment, stdout=subprocess.PIPE, text=True)
            said = self.rebuild()[2]
            found = json.loads(asking.communicate(timeout=120)[0])
        still = re.search(r"the projection stood still for \d+ ms", said)
        return found, still[0] if still else said.strip()


class Identity:
    """A running one, from ready to ended."""

    def __init__(self, bench):
        self.bench = bench
        self.port = free_port("127.0.0.1", ())

    def __enter__(self):
        environment = self.bench.environment | {"LATCHKEY_OPERATIONS_PORT": str(self.port)}
        self.child = subprocess.Popen(
            [os.path.join(self.bench.programs, "identity")], env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while not self.is_ready():
            if self.child.poll() is not None or time.monotonic() > end:
                self.child.kill()
                raise Problem("Identity does not get ready")
            time.sleep(0.1)
        return self

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait(60)
