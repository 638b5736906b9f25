"""A Postgres that is started for one run, and whose data need not survive it."""

import secrets
import signal
import subprocess
import time

from paths import State
from postgres import Postgres, wait_until_free
from problem import Problem
from process import Process


class Throwaway:
    """Below a folder, without a guard against a crash of the machine. `role`: a superuser that is made in it."""

    def __init__(self, folder, log, environment, role):
        state = State(folder)
        state.prepare()
        self.postgres = Postgres(state, None, durable=False)
        wait_until_free(self.postgres)
        self.postgres.prepare()
        self.role = role
        self.password = secrets.token_hex(16)
        prefix, command = self.postgres.command
        self.process = Process("postgres", prefix, command, environment, None, signal.SIGINT, "INT", "/")
        with open(log, "wb") as output:
            self.process.start_into(output)
        try:
            end = time.monotonic() + 60
            while (self.postgres.postmaster() or (0, ""))[1] != "ready":
                if self.process.ended() or time.monotonic() > end:
                    raise Problem(f"Postgres will not start; see {log}")
                time.sleep(0.02)
            self.postgres.psql("postgres", f"CREATE ROLE {role} SUPERUSER LOGIN PASSWORD '{self.password}';\n")
        except BaseException:
            self.stop()
            raise

    def url(self, database):
        return self.postgres.url(self.role, self.password, database)

    def stop(self):
        if self.process.child:
            self.process.send(signal.SIGINT)
            try:
                self.process.child.wait(30)
            except subprocess.TimeoutExpired:
                self.process.send(signal.SIGKILL)
                self.process.child.wait()
