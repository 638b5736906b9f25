"""Where things are: the repository, and the folder that holds the state of a running Latchkey."""

import os

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


class State:
    """The state folder. Everything that is kept between two starts is in it, and nothing is anywhere else."""

    def __init__(self, path=None):
        chosen = path or os.environ.get("LATCHKEY_STATE") or os.path.join(REPOSITORY, ".latchkey")
        self.path = os.path.abspath(chosen)

    def file(self, *parts):
        return os.path.join(self.path, *parts)

    @property
    def secrets(self):
        return self.file("secrets")

    @property
    def logs(self):
        return self.file("logs")

    @property
    def postgres(self):
        return self.file("postgres")

    @property
    def socket(self):
        return self.file("socket")

    @property
    def status(self):
        return self.file("status.json")

    @property
    def lock(self):
        return self.file("lock")

    @property
    def outbox(self):
        return self.file("outbox.jsonl")

    def prepare(self):
        """Makes the folders, for nobody else to look into."""
        for folder in (self.path, self.secrets, self.logs):
            os.makedirs(folder, mode=0o700, exist_ok=True)


def write_privately(path, text, durably=False):
    """Replaces a file in one step; only its owner can read it."""
    temporary = f"{path}.{os.getpid()}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        if durably:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)
