"""Whether a supervisor runs, and what it says of itself."""

import errno
import fcntl
import json
import os


class Lock:
    """Held by a supervisor for as long as it lives; the kernel lets go of it whatever happens."""

    def __init__(self, state):
        self.descriptor = os.open(state.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self):
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise

    def close(self):
        os.close(self.descriptor)


def is_running(state):
    if not os.path.exists(state.lock):
        return False
    lock = Lock(state)
    try:
        return not lock.take()
    finally:
        lock.close()


def read_status(state):
    try:
        with open(state.status) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None
