"""compose/test: the whole proof, and one line that says how it went."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import settings
import toolchain
from paths import REPOSITORY
from ports import is_free
from problem import Problem
from throwaway import Throwaway

PARTS = ("format", "unit", "log", "simulation", "system")
# Run optimised: the simulation for its speed, the others beside librdkafka, which Thread Sanitizer does not see into.
NOT_SANITIZED = ("KafkaTests", "LogContractTests", "SimulationTests", "SystemTests")
# Every part has to end some time; the slowest takes a few minutes.
LONGEST_RUN = 1500
# Whole systems whose promises hold wherever the log lies; what else is tried of them has nothing to do with it.
ON_KAFKA = ("AccountTests", "AuditTests", "ConfirmationTests", "CrashTests", "GuideTests", "PauseTests", "PrivacyTests")
# The one suite that needs brokers of its own, which it kills; it is a storm, too.
ON_BROKERS = "BrokerTests"
OPTIMISED = ("--package-path", REPOSITORY, "--configuration", "release", "-Xswiftc", "-enable-testing")

RESULT = re.compile(r'^\S+ Test (?P<name>".*"|[^\s"]\S*)(?: with \d+ test cases?)? (?P<result>passed|failed|skipped)\b(?P<more>.*)$')
# What is worth seeing while tests run: issues and what belongs to them.
ISSUE = re.compile(
    r"^(✘|↳ (?!Testing Library|Target Platform)|ThreadSanitizer|WARNING: ThreadSanitizer|SUMMARY|Fatal error|.*: Fatal error|error:)")


class Outcome:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []


def test(parser, arguments):
    parser.description = (
        "Installs what is missing, builds everything and runs every test. The last line says: N passed, N failed, N skipped.")
    parser.add_argument("part", nargs="*", help=f"only these: {', '.join(PARTS)}")
    options = parser.parse_args(arguments)
    for part in options.part:
        if part not in PARTS:
            raise Problem(f"there is no part {part!r}; there are {', '.join(PARTS)}", 2)
    chosen = [part for part in PARTS if part in (options.part or PARTS)]
    run = Run(toolchain.prepare())
    # So that whoever ends this ends the tests with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    start = time.monotonic()
    try:
        for part in chosen:
            getattr(run, part)()
    finally:
        run.close()
    outcome = run.outcome
    print()
    for name, reason in outcome.skipped:
        print(f"skipped: {name}{': ' + reason if reason else ''}")
    for part in PARTS:
        if part not in chosen:
            print(f"not run: {part}")
    for name in outcome.failed:
        print(f"failed: {name}")
    print(f"took {int(time.monotonic() - start)} s; full output in {os.path.relpath(run.logs)}")
    print(f"{outcome.passed} passed, {len(outcome.failed)} failed, {len(outcome.skipped)} skipped", flush=True)
    return 1 if outcome.failed or not outcome.passed else 0


class Run:
    def __init__(self, swift):
        self.swift = swift
        self.outcome = Outcome()
        self.build_folder = os.path.join(REPOSITORY, ".build")
        self.logs = os.path.join(self.build_folder, "test-logs")
        os.makedirs(self.logs, exist_ok=True)
        # Short, as names of sockets must be, and as open as /tmp to the users that tests become.
        self.temporary = tempfile.mkdtemp(prefix="latchkey-test-")
        os.chmod(self.temporary, 0o1777)
        self.server = None
        self.broker = None

    # Parts

    def format(self):
        sources = ["Package.swift", "Shared", "Services", "Tests"]
        command = [self.swift, "format", "lint", "--strict", "--parallel", "--recursive", *sources]
        self.check("the sources are formatted", "format", command)

    def unit(self):
        """Modules and services, in one debug build under Thread Sanitizer."""
        scratch = os.path.join(self.build_folder, "thread-sanitizer")
        common = ["--package-path", REPOSITORY, "--scratch-path", scratch, "--sanitize", "thread"]
        if not self.check("the unit tests build", "unit-build", [self.swift, "build", "--build-tests", *common], quiet=True):
            return
        environment = self.environment()
        environment["LATCHKEY_TEST_POSTGRES"] = self.postgres()
        environment["TSAN_OPTIONS"] = "halt_on_error=0:exitcode=66"
        mutex = self.mutex_library(scratch)
        if mutex:
            environment["LD_PRELOAD"] = mutex
        # One module after the other: a test that blocks a thread of Swift's small pool holds up its own module at most.
        for target in sorted(os.listdir(os.path.join(REPOSITORY, "Tests"))):
            if target.endswith("Tests") and target not in NOT_SANITIZED:
                self.tests(target, [self.swift, "test", "--skip-build", *common, "--filter", f"^{target}\\."], environment)

    def log(self):
        """Every implementation of the log, and Kafka where there is one."""
        if not self.build_optimised():
            return
        environment = {**self.environment(), "LATCHKEY_TESTS": "optimised", "LATCHKEY_TEST_POSTGRES": self.postgres()}
        self.tests("LogContractTests", self.optimised("LogContractTests"), environment)
        for name, kafka in self.kafkas("tests of the log on a real Kafka"):
            self.log_on_kafka(name, {**environment, **kafka})

    def log_on_kafka(self, name, environment):
        """The contract of every log on these brokers, one test after the other, and what is Kafka's own."""
        contract = [*self.optimised("LogContractTests"), "--no-parallel"]
        contract[contract.index("--filter") + 1] = r"^LogContractTests\.(Appending|Reading|.A consumer group)"
        self.tests(f"LogContractTests-kafka-{name}", contract, environment)
        own = self.optimised("KafkaTests")
        if "LATCHKEY_TEST_KAFKA_COMMAND" in environment:
            # One of these is killed: nothing else can be tried on them meanwhile.
            own[own.index("--filter") + 1] = r"^KafkaTests\..A log on three brokers"
        self.tests(f"KafkaTests-{name}", own, environment)

    def simulation(self):
        if self.build_optimised():
            self.tests("simulation", self.optimised("SimulationTests"), {**self.environment(), "LATCHKEY_TESTS": "optimised"})

    def system(self):
        if not self.build_optimised():
            return
        folder = subprocess.run(
            [self.swift, "build", "--package-path", REPOSITORY, "--configuration", "release", "--show-bin-path"],
            env=self.environment(), stdout=subprocess.PIPE, text=True).stdout.strip()
        environment = {**self.environment(), "LATCHKEY_TESTS": "optimised", "LATCHKEY_BIN": folder}
        wanted = os.environ.get("LATCHKEY_STORM_SECONDS")
        if wanted:
            environment["LATCHKEY_STORM_SECONDS"] = wanted
        toolchain.install_for_tests()
        self.tests("system", [*self.optimised("SystemTests"), "--skip", ON_BROKERS], environment)
        for name, kafka in self.kafkas("whole systems on a real Kafka"):
            suites = "|".join(ON_KAFKA) if "LATCHKEY_TEST_KAFKA_COMMAND" not in kafka else ON_BROKERS
            command = self.optimised("SystemTests")
            command[command.index("--filter") + 1] = rf"^SystemTests\.SystemTests/({suites})"
            self.tests(f"system-kafka-{name}", command, {**environment, **kafka})

    def build_optimised(self):
        """The shipped executables, and beside them the tests that need nothing but public interfaces."""
        # The simulation looks into the loop.
        command = [self.swift, "build", *OPTIMISED, "--build-tests"]
        if not hasattr(self, "is_optimised"):
            environment = {**self.environment(), "LATCHKEY_TESTS": "optimised"}
            self.is_optimised = self.check("the executables build", "release-build", command, environment, quiet=True)
        return self.is_optimised

    def optimised(self, target):
        return [self.swift, "test", *OPTIMISED, "--skip-build", "--filter", f"^{target}\\."]

    # What they stand on

    def environment(self):
        """Of the caller, without what would lead tests to a running Latchkey or to its secrets."""
        def is_kept(name):
            is_ours = name.startswith(("LATCHKEY_", "PG", "SMTP_", "TWILIO_", "ADMIN_EMAIL")) or name in settings.PRIVATE or name in settings.CREDENTIALS
            return name == "LATCHKEY_SWIFT" or not is_ours
        kept = {name: value for name, value in os.environ.items() if is_kept(name)}
        return {**kept, **toolchain.places(self.temporary)}

    def postgres(self):
        """A server of its own for the tests, and how a superuser reaches it. Nothing in it has to survive."""
        given = os.environ.get("LATCHKEY_TEST_POSTGRES")
        if given:
            return given
        if not self.server:
            folder = os.path.join(self.build_folder, "test-postgres")
            shutil.rmtree(folder, ignore_errors=True)
            self.server = Throwaway(folder, os.path.join(self.logs, "postgres.log"), self.environment(), "tests")
        return self.server.url("postgres")

    def kafkas(self, what):
        """The Kafka that the caller names; or one after the other one broker, and three of which each can be killed. Names and
        variables of the environment. `what`: is skipped where there is none."""
        given = os.environ.get("LATCHKEY_TEST_KAFKA")
        if given:
            yield "given", {"LATCHKEY_TEST_KAFKA": given}
            return
        for brokers in (1, 3):
            servers = self.start_kafka(brokers)
            if not servers:
                self.outcome.skipped.append((what, "LATCHKEY_TEST_KAFKA names none"))
                return
            command, folder = self.broker
            killing = {"LATCHKEY_TEST_KAFKA_COMMAND": command, "LATCHKEY_TEST_KAFKA_FOLDER": folder} if brokers > 1 else {}
            yield f"{brokers}", {"LATCHKEY_TEST_KAFKA": servers, "LATCHKEY_TEST_KAFKA_TOOL": command, **killing}
            self.stop_kafka()

    def start_kafka(self, brokers):
        """Bootstrap servers of a real Kafka that is started from beside the repository's folder; none where there is none."""
        command = os.path.join(os.path.dirname(REPOSITORY), "shared", "kafka", "kafka")
        if not (os.access(command, os.X_OK) and shutil.which("java")):
            return None
        folder = os.path.join(self.build_folder, "test-kafka")
        shutil.rmtree(folder, ignore_errors=True)
        # The controllers listen a thousand above.
        port = next(port for port in range(19092, 63000, 7) if all(
            is_free("127.0.0.1", port + n + above) for n in range(brokers) for above in (0, 1000)))
        self.broker = (command, folder)
        result = subprocess.run(
            [command, "start", folder, str(brokers), str(port)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise Problem(f"Kafka will not start: {result.stdout.strip()}")
        return ",".join(f"127.0.0.1:{port + n}" for n in range(brokers))

    def stop_kafka(self):
        if self.broker:
            command, folder = self.broker
            subprocess.run([command, "stop", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            shutil.rmtree(folder, ignore_errors=True)
            self.broker = None

    def mutex_library(self, scratch):
        """Tells Thread Sanitizer about contended mutexes."""
        beside = os.path.join(os.path.dirname(os.path.realpath(self.swift)), "clang")
        clang = beside if os.access(beside, os.X_OK) else shutil.which("clang")
        if not clang:
            print("latchkey: there is no clang; contended mutexes will look like races", file=sys.stderr)
            return None
        library = os.path.join(scratch, "mutex-for-thread-sanitizer.so")
        source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "mutex-for-thread-sanitizer.c")
        if subprocess.run([clang, "-O1", "-shared", "-fPIC", source, "-o", library]).returncode != 0:
            raise Problem("clang cannot build the library for Thread Sanitizer")
        return library

    def close(self):
        self.stop_kafka()
        if self.server:
            self.server.stop()
            shutil.rmtree(os.path.join(self.build_folder, "test-postgres"), ignore_errors=True)
        self.clear()

    def clear(self):
        """Removes what tests left behind, once systems that end beside them have ended."""
        end = time.monotonic() + 30
        while time.monotonic() < end and any(name.startswith("latchkey-system-") for name in os.listdir(self.temporary)):
            time.sleep(0.1)
        shutil.rmtree(self.temporary, ignore_errors=True)

    # Running

    def check(self, name, log, command, environment=None, quiet=False):
        """One command that passes or fails as a whole."""
        start = time.monotonic()
        path = os.path.join(self.logs, f"{log}.log")
        with open(path, "wb") as file:
            result = subprocess.run(
                command, cwd=REPOSITORY, env=environment or self.environment(), stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT)
        if result.returncode == 0:
            print(f"{name} ({int(time.monotonic() - start)} s)", flush=True)
            self.outcome.passed += 1
            return True
        with open(path, errors="replace") as file:
            lines = file.read().split("\n")
        chosen = [line for line in lines if "error:" in line] if quiet else lines
        print("\n".join((chosen or lines)[:60]))
        self.outcome.failed.append(name)
        return False

    def tests(self, name, command, environment):
        start = time.monotonic()
        outcome = Outcome()
        log = os.path.join(self.logs, f"{name}.log")
        child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command], cwd=REPOSITORY, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", start_new_session=True)
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(child.pid, signal.SIGKILL))
        signal.alarm(LONGEST_RUN)
        races = 0
        try:
            with open(log, "w") as file:
                for line in child.stdout:
                    file.write(line)
                    file.flush()
                    found = RESULT.match(line)
                    if found:
                        count(outcome, found)
                    if ISSUE.match(line):
                        print(line, end="", flush=True)
                    if line.startswith("WARNING: ThreadSanitizer"):
                        races += 1
            status = child.wait()
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        finally:
            signal.alarm(0)
        if races:
            outcome.failed.append(f"{name}: Thread Sanitizer found {races} races; see {os.path.relpath(log)}")
        elif status != 0 and not outcome.failed:
            how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
            outcome.failed.append(f"{name}: the run ended with {how}; see {os.path.relpath(log)}")
        elif not (outcome.passed or outcome.failed or outcome.skipped):
            outcome.failed.append(f"{name}: no test was run")
        took = int(time.monotonic() - start)
        print(f"{name}: {outcome.passed} passed, {len(outcome.failed)} failed, {len(outcome.skipped)} skipped ({took} s)", flush=True)
        self.outcome.passed += outcome.passed
        self.outcome.failed += outcome.failed
        self.outcome.skipped += outcome.skipped


def count(outcome, found):
    name = found["name"].strip('"')
    if name in ("run", "case"):
        return
    if found["result"] == "passed":
        outcome.passed += 1
    elif found["result"] == "failed":
        outcome.failed.append(name)
    else:
        outcome.skipped.append((name, found["more"].strip(' :."')))
