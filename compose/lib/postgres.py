"""A private Postgres in the state folder: made at the first start, reached by a Unix socket alone."""

import hashlib
import os
import pwd
import shutil
import subprocess
import time

from problem import Problem

PORT = 5432
SOCKET_NAME = f".s.PGSQL.{PORT}"
# What sun_path of Linux holds, without its NUL.
SOCKET_PATH_LIMIT = 107
DATABASE = "latchkey"

CONFIGURATION = """\
# Written at every start. Settings of your own go into custom.conf beside this file.
listen_addresses = ''
port = {port}
unix_socket_directories = {socket}
unix_socket_permissions = 0700
max_connections = 200
shared_buffers = 64MB
max_wal_size = 512MB
fsync = {fsync}
full_page_writes = {fsync}
synchronous_commit = {fsync}
# Shared memory as files in the data folder: nothing is left behind anywhere else.
dynamic_shared_memory_type = mmap
password_encryption = scram-sha-256
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_line_prefix = '%m [%p] %u '
# Details and statements of errors may contain what clients sent.
log_error_verbosity = terse
log_min_error_statement = panic
"""

ACCESS = """\
local all postgres peer map=owner
local replication postgres peer map=owner
local all all scram-sha-256
"""


class Postgres:
    def __init__(self, state, log, durable=True):
        self.state = state
        self.log = log
        self.durable = durable
        self.programs = find_programs()
        self.owner = owner()
        # As root: what comes before every command that must not run as root.
        self.prefix = []
        self.socket = state.socket
        if len(os.fsencode(os.path.join(self.socket, SOCKET_NAME))) > SOCKET_PATH_LIMIT or "," in self.socket:
            # Too long for the kernel, or two hosts to libpq. A name in the abstract namespace needs no file; passwords and
            # peer credentials guard it all the same.
            digest = hashlib.sha256(os.fsencode(os.path.realpath(state.path))).hexdigest()
            self.socket = f"@latchkey-{digest[:16]}"

    def program(self, name):
        return os.path.join(self.programs, name)

    @property
    def exists(self):
        return os.path.exists(os.path.join(self.state.postgres, "PG_VERSION"))

    def prepare(self):
        """Makes the data folder if there is none, and writes the configuration."""
        os.makedirs(self.state.socket, mode=0o700, exist_ok=True)
        self.give(self.state.socket)
        self.prefix = run_as_owner(self.owner, self.state.socket)
        if not self.exists:
            self.initialise()
        socket = self.socket.replace("'", "''").replace("\\", "\\\\").replace('"', '""')
        configuration = CONFIGURATION.format(port=PORT, socket=f"'\"{socket}\"'", fsync="on" if self.durable else "off")
        if os.path.exists(os.path.join(self.state.postgres, "custom.conf")):
            configuration += "include = 'custom.conf'\n"
        self.write("postgresql.conf", configuration)
        self.write("pg_hba.conf", ACCESS)
        self.write("pg_ident.conf", f'owner "{self.owner.pw_name}" postgres\n')

    def give(self, path):
        if os.geteuid() == 0:
            os.chown(path, self.owner.pw_uid, self.owner.pw_gid)

    def write(self, name, text):
        path = os.path.join(self.state.postgres, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o600)
        self.give(path)

    def initialise(self):
        """Builds the data folder under another name, so that a half-made one is never taken for a whole one."""
        building = self.state.postgres + ".new"
        shutil.rmtree(building, ignore_errors=True)
        os.mkdir(building, 0o700)
        self.give(building)
        command = [self.program("initdb"), "--pgdata", building, "--username", "postgres", "--encoding", "UTF8", "--locale", "C"]
        command += ["--data-checksums", "--no-instructions", "--auth", "peer"]
        result = subprocess.run(
            self.prefix + command, cwd="/", env=clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        if result.returncode != 0:
            shutil.rmtree(building, ignore_errors=True)
            raise Problem(f"Postgres will not start: initdb: {last_line(result.stdout)}")
        os.replace(building, self.state.postgres)

    @property
    def command(self):
        return self.prefix, [*waiting_for_its_turn(), self.program("postgres"), "-D", self.state.postgres]

    def postmaster(self):
        """Process id and state (`ready`, `starting`, …) from the lock file, or None where nobody runs on the data."""
        try:
            with open(os.path.join(self.state.postgres, "postmaster.pid")) as file:
                lines = file.read().split("\n")
            pid = int(lines[0])
        except (OSError, ValueError):
            return None
        if not runs_postgres(pid):
            return None
        return pid, (lines[7].strip() if len(lines) > 7 else "starting")

    def bootstrap(self, passwords):
        """Makes database, roles and schemas, or brings them up to date. Safe to repeat."""
        self.psql("postgres", f"SELECT 'CREATE DATABASE {DATABASE}' WHERE NOT EXISTS "
                              f"(SELECT FROM pg_database WHERE datname = '{DATABASE}') \\gexec\n")
        with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "bootstrap.sql")) as file:
            script = file.read()
        settings = "".join(f"\\set {service}_password '{password}'\n" for service, password in passwords.items())
        self.psql(DATABASE, settings + script)

    def psql(self, database, script):
        command = [self.program("psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--set", "VERBOSITY=terse"]
        command += ["--host", self.socket, "--port", str(PORT), "--username", "postgres", "--dbname", database, "--file", "-"]
        result = subprocess.run(
            self.prefix + command, cwd="/", env=clean_environment(), input=script, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        if result.returncode != 0:
            raise Problem(f"Postgres cannot be set up: {last_line(result.stdout)}")

    def url(self, user, password, database=DATABASE):
        """A libpq connection string. Everything in it is quoted, as folders may have any name."""
        def quoted(value):
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return f"host={quoted(self.socket)} port={PORT} dbname={database} user={user} password={quoted(password)}"


def find_programs():
    folders = ["/usr/lib/postgresql/15/bin"]
    found = shutil.which("postgres")
    if found:
        folders.append(os.path.dirname(os.path.realpath(found)))
    for folder in folders:
        if os.access(os.path.join(folder, "initdb"), os.X_OK):
            return folder
    raise Problem("Postgres will not start: Postgres 15 is not installed")


def owner():
    """Who the server runs as: never root, because Postgres refuses that."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        raise Problem("Postgres will not start: it does not run as root, and there is no user postgres")


def run_as_owner(owner_of_data, folder):
    """The words before a command that let it run as that user and reach `folder`.

    The state may lie below folders that only root can enter. Then the server gets the smallest capability that lets it in:
    to read what it may not, or, where the machine gives even root no such thing, to do what it may not.
    """
    if os.geteuid() != 0:
        return []
    base = ["setpriv", "--reuid", owner_of_data.pw_name, "--regid", str(owner_of_data.pw_gid), "--clear-groups"]
    attempts = [[]]
    for capability in ("dac_read_search", "dac_override"):
        attempts.append([f"--inh-caps=+{capability}", f"--ambient-caps=+{capability}"])
    for attempt in attempts:
        # Not `test -x`: access(2) looks at real ids and knows nothing of capabilities.
        command = base + attempt + ["stat", os.path.join(folder, ".")]
        if subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return base + attempt
    reason = f"user {owner_of_data.pw_name} cannot enter {os.path.dirname(folder)}; choose another LATCHKEY_STATE"
    raise Problem(f"Postgres will not start: {reason}")


def waiting_for_its_turn():
    """The words before a command by which, as the services do of themselves, it does not interrupt what runs on a busy
    processor. None where the machine does not allow that."""
    words = ["chrt", "--batch", "0"]
    try:
        allowed = subprocess.run([*words, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return []
    return words if allowed else []


def runs_postgres(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip() == "postgres"
    except OSError:
        return False


def clean_environment():
    """Without PGHOST and the like, which would lead the tools elsewhere, and with English messages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LATCHKEY_"))}
    kept["LC_ALL"] = "C"
    return kept


def last_line(text):
    lines = [line for line in text.strip().split("\n") if line]
    errors = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
    return (errors or lines or ["no message"])[0 if errors else -1]


def wait_until_free(postgres, deadline=30.0):
    """A server whose supervisor was killed is still stopping: starting another one on its data would fail."""
    end = time.monotonic() + deadline
    while postgres.postmaster():
        if time.monotonic() > end:
            raise Problem(f"Postgres will not start: process {postgres.postmaster()[0]} still runs on {postgres.state.postgres}")
        time.sleep(0.05)
