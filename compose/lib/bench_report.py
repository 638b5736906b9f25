"""What compose/bench prints."""

import json
import os

PROCESSES = ("gateway", "verification", "identity", "notifier", "postgres", "kafka", "load")
HEADINGS = (
    "conns", "request", "per s", "p50 ms", "p99 ms", "failed", "limit/s", "of it", "p50 ms", "times", "commits/s", "rec/req",
    *PROCESSES, "sum", "elsewhere")
WIDTHS = (5, 8, 7, 8, 8, 6, 7, 5, 7, 6, 9, 7, 7, 12, 8, 8, 8, 6, 5, 6, 9)
# Past this share of CPU that others had, a number says more of them than of Latchkey.
TOLERABLE = 0.1

# What is compared with something else than a bare round trip over the log.
LIMITS = {"healthz": "server", "me": "server", "register": "kept hash", "login": "kept hash", "reset": "kept hash"}
# How often one is answered.
ANSWERS = {"pair": 2, "reset": 3}

LEGEND = """
limit/s, p50 ms: for healthz and me a bare libmicrohttpd answer, for what hashes a password (register, login, reset) argon2id on all
processors in memory that is kept, for all else a bare command → event → read-back → reply over the same log, at the same number of
connections; "of it" and "times" compare with them. commits/s: durable commits of this Postgres.
rec/req: records in the log per request. gateway … load: milliseconds of CPU per request, by process; a pair is one request here.
elsewhere: the share of all CPU that went to none of these."""


class Rows:
    """One row for each measurement, by what it is made of."""

    def __init__(self, options):
        self.options = options

    def begin(self):
        pass

    def end(self):
        pass

    def row(self, backend, connections, result, cost, limits):
        limit = limits[LIMITS.get(result["name"], "log")]
        requests = sum(result["answers"].values()) / ANSWERS.get(result["name"], 1)
        failed = sum(count for status, count in result["answers"].items() if not status.startswith("2")) + result["undelivered"]
        rate, limit_rate = result["count"] / result["seconds"], limit["count"] / limit["seconds"]
        self.show({
            "backend": backend, "connections": connections, "request": result["name"], "perSecond": rate,
            "p50": result["p50"] / 1000, "p99": result["p99"] / 1000, "failed": failed,
            "limit": {"perSecond": limit_rate, "p50": limit["p50"] / 1000, "p99": limit["p99"] / 1000},
            "libsodiumHashesPerSecond": limits["hash"]["count"] / limits["hash"]["seconds"],
            "commitsPerSecond": limits["commits"], "recordsPerRequest": cost.records / requests if requests else 0,
            "cpu": {name: seconds * 1000 / requests for name, seconds in cost.cpu.items()} if requests else {},
            "elsewhere": cost.elsewhere,
        })


class Lines(Rows):
    def show(self, row):
        print(json.dumps(row), flush=True)


class Table(Rows):
    def begin(self):
        self.backend = None
        self.is_disturbed = False

    def show(self, row):
        if row["backend"] != self.backend:
            self.backend = row["backend"]
            load = os.getloadavg()[0]
            print(
                f"\n{self.backend}, {self.options.partitions} partitions: {os.cpu_count()} processors, load average {load:.1f}, "
                f"{self.options.seconds:g} s each; argon2id by libsodium itself: {row['libsodiumHashesPerSecond']:,.0f}/s\n")
            self.line(HEADINGS)
        limit, cpu = row["limit"], row["cpu"]
        self.is_disturbed |= row["elsewhere"] > TOLERABLE
        self.line((
            row["connections"], row["request"], f"{row['perSecond']:,.0f}", f"{row['p50']:.2f}", f"{row['p99']:.2f}", row["failed"],
            f"{limit['perSecond']:,.0f}", f"{row['perSecond'] / limit['perSecond']:.2f}" if limit["perSecond"] else "-",
            f"{limit['p50']:.2f}", f"{row['p50'] / limit['p50']:.1f}" if limit["p50"] else "-",
            f"{row['commitsPerSecond']:,.0f}", f"{row['recordsPerRequest']:.1f}",
            *(f"{cpu[name]:.3f}" if name in cpu else "-" for name in PROCESSES), f"{sum(cpu.values()):.3f}",
            f"{row['elsewhere'] * 100:.0f} %"))

    def line(self, cells):
        print("  ".join(str(cell).rjust(width) for cell, width in zip(cells, WIDTHS)), flush=True)

    def end(self):
        print(LEGEND)
        if self.is_disturbed:
            print("Others were busy on this machine meanwhile: measure again when they are not.")


FORMATS = {"table": Table, "jsonl": Lines}
