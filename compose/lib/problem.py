"""The one kind of error that is expected: it becomes one line and an exit status."""


class Problem(Exception):
    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status
