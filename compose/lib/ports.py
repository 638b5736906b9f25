"""TCP ports that nobody uses."""

import errno
import socket

from problem import Problem


def is_free(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise Problem(f"cannot listen at {address} port {port}: {error.strerror}")
    return True


def free_port(address, taken):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    while True:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((address, 0))
            port = probe.getsockname()[1]
        if port not in taken:
            return port
