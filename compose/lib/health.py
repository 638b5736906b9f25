"""Asks the services whether they are ready, without ever holding up the supervisor."""

import http.client
import socket
import ssl
import threading
import time


def ask(address, port, path="/readyz", timeout=1.0):
    """(is ready, reason). Plain HTTP first, TLS where the port speaks that."""
    reason = "does not answer"
    for secure in (False, True):
        try:
            if secure:
                context = ssl.create_default_context()
                # It is our own process on our own machine; the certificate names the public host.
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
                connection = http.client.HTTPSConnection(address, port, timeout=timeout, context=context)
            else:
                connection = http.client.HTTPConnection(address, port, timeout=timeout)
            try:
                connection.request("GET", path)
                response = connection.getresponse()
                body = response.read(65536)
            finally:
                connection.close()
            if response.status == 200:
                return True, ""
            return False, explain(body) or f"answers {response.status}"
        except ConnectionRefusedError:
            return False, "not listening yet"
        except (OSError, http.client.HTTPException) as error:
            reason = "does not answer in time" if isinstance(error, (socket.timeout, TimeoutError)) else "does not answer"
    return False, reason


def explain(body):
    """What a service that is not ready says it waits for: one line for each obstacle."""
    return "; ".join(line for line in body.decode("utf-8", "replace").split("\n") if line)[:500]


class Watch(threading.Thread):
    """Polls until every target was ready at the same time, or it is told to stop. `report` gets True, or the reason."""

    def __init__(self, targets, report, deadline):
        super().__init__(daemon=True)
        self.targets = targets
        self.report = report
        self.end = time.monotonic() + deadline
        self.stopped = False

    def run(self):
        while not self.stopped:
            for name, address, port in self.targets():
                is_ready, reason = ask(address, port)
                if not is_ready:
                    break
            else:
                self.report(True, "")
                return
            if time.monotonic() > self.end:
                self.report(False, f"{name} is not ready: {reason}")
                return
            time.sleep(0.03)
