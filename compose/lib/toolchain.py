"""Finds Swift, installs what the machine lacks, builds the executables."""

import fcntl
import glob
import os
import re
import shutil
import subprocess
import tempfile

from paths import REPOSITORY
from problem import Problem

# What the compiler and linker need, the C libraries that the services stand on, and Postgres.
PACKAGES = """
    binutils ca-certificates curl git libc6-dev libgcc-12-dev libstdc++-12-dev pkg-config tzdata zlib1g-dev
    libargon2-dev libcrypt-dev libcurl4-openssl-dev libedit2 libidn2-dev libjemalloc-dev libmicrohttpd-dev libncurses6
    libphonenumber-dev libpq-dev librdkafka-dev libsodium-dev libsqlite3-0 libssl-dev libxml2 postgresql-15
    postgresql-client-15 util-linux
""".split()

EXECUTABLES = ("gateway", "verification", "identity", "notifier")

# What only some tests use. Without it they are skipped, and say so.
FOR_TESTS = "kcat node-axios".split()


def install_packages():
    if not shutil.which("dpkg-query"):
        return
    script = os.path.join(os.path.dirname(os.path.realpath(__file__)), "install-packages")
    if subprocess.run([script, *PACKAGES]).returncode != 0:
        raise Problem("packages are missing")


def install_for_tests():
    """As far as that can be done."""
    if not shutil.which("dpkg-query"):
        return
    script = os.path.join(os.path.dirname(os.path.realpath(__file__)), "install-packages")
    subprocess.run([script, *FOR_TESTS, *([] if shutil.which("node") else ["nodejs"])])


def prepare():
    """Everything that a build needs. Returns Swift; without one nothing is installed."""
    swift = find_swift()
    install_packages()
    check_version(swift)
    return swift


def find_swift():
    given = os.environ.get("LATCHKEY_SWIFT")
    if given:
        candidates = [given] + [os.path.join(given, inside) for inside in ("swift", "bin/swift", "usr/bin/swift")]
    else:
        newest_first = sorted(glob.glob("/opt/swift-*/usr/bin/swift"), reverse=True)
        candidates = [shutil.which("swift"), "/opt/swift/usr/bin/swift", *newest_first, "/usr/local/swift/usr/bin/swift"]
        candidates.append(os.path.expanduser("~/.local/share/swiftly/bin/swift"))
    for candidate in candidates:
        if candidate and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    if given:
        raise Problem(f"there is no Swift at LATCHKEY_SWIFT ({given})")
    raise Problem("no Swift found: put Swift 6.2 or later on the PATH, or name it with LATCHKEY_SWIFT")


def check_version(swift):
    try:
        with tempfile.TemporaryDirectory() as temporary:
            environment = {**os.environ, **places(temporary)}
            output = subprocess.run(
                [swift, "--version"], env=environment, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        output = ""
    found = re.search(r"Swift version (\d+)\.(\d+)", output)
    if not found:
        raise Problem(f"{swift} does not run")
    if (int(found[1]), int(found[2])) < (6, 2):
        raise Problem(f"{swift} is version {found[1]}.{found[2]}; Swift 6.2 or later is needed")


def executables():
    """The folder of the four executables, built if it has to be. LATCHKEY_BIN names one that is ready."""
    given = os.environ.get("LATCHKEY_BIN")
    if given:
        folder = os.path.abspath(given)
        for name in EXECUTABLES:
            if not os.access(os.path.join(folder, name), os.X_OK):
                raise Problem(f"there is no executable {name} in LATCHKEY_BIN ({folder})")
        return folder
    return build(prepare())


BUILD = os.path.join(REPOSITORY, ".build")


def places(temporary):
    """Where Swift may leave what it likes to leave in the caller's home and in /tmp."""
    folders = {f"XDG_{kind}_HOME": os.path.join(BUILD, "home", kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    # Where a Swift that is managed by swiftly finds itself.
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    swiftly = os.environ.get("SWIFTLY_HOME_DIR") or os.path.join(data, "swiftly")
    return {**folders, "SWIFTLY_HOME_DIR": swiftly, "TMPDIR": temporary}


def build(swift):
    try:
        os.makedirs(BUILD, exist_ok=True)
        lock = open(os.path.join(BUILD, "latchkey.lock"), "w")
    except OSError as error:
        raise Problem(f"cannot build in {BUILD}: {error.strerror}")
    with lock, tempfile.TemporaryDirectory(prefix="tmp-", dir=BUILD, ignore_cleanup_errors=True) as temporary:
        # Two builds in one folder would only stand in each other's way.
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [swift, "build", "--package-path", REPOSITORY, "--configuration", "release"]
        environment = {**os.environ, **places(temporary)}
        result = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=2)
        if result.returncode != 0:
            raise Problem("the build failed")
        path = subprocess.run([*command, "--show-bin-path"], env=environment, stdout=subprocess.PIPE, text=True)
        if path.returncode != 0:
            raise Problem("the build failed")
        return path.stdout.strip()
