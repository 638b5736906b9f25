"""What each service is told: environment of the caller, generated secrets, and what only this folder knows."""

import os
import secrets

from paths import write_privately
from problem import Problem

SERVICES = ("verification", "identity", "notifier", "gateway")

# Variables that hold key material, and the services that may see them. Nobody else gets them, whoever set them.
PRIVATE = {
    "GATEWAY_SECRET": ("gateway",),
    "VERIFICATION_SECRET": ("verification",),
    "IDENTITY_SECRET": ("identity",),
    "NOTIFIER_SECRET": ("notifier",),
    "LATCHKEY_ROUTING_SECRET": ("gateway", "verification", "identity"),
    "LATCHKEY_LOG_MAC_KEYS": SERVICES,
}
# Secrets that may be replaced, and the variables that name what is accepted beside them meanwhile.
ACCEPTED = {name: f"{name}_ACCEPTED" for name in PRIVATE if name.endswith("_SECRET") and len(PRIVATE[name]) == 1}
# For how many seconds what was made under a secret counts, where nothing is wrapped anew.
KEEPS = {"GATEWAY_SECRET": 3600, "VERIFICATION_SECRET": 300}
# Passwords of others that the caller may have, and the services that may see them. None is made here.
CREDENTIALS = {
    "SMTP_PASSWORD": ("notifier",),
    "RESEND_API_KEY": ("notifier",),
    "TWILIO_AUTH_TOKEN": ("notifier",),
}
# Secrets that several services have to agree on.
SHARED = ("LATCHKEY_ROUTING_SECRET", "LATCHKEY_LOG_MAC_KEYS")
# Prefixes of variables that choose a way of delivery for e-mail.
MAIL_PROVIDERS = ("RESEND_", "SMTP_", "ADMIN_EMAIL")


def names_for(service):
    return [name for name, users in PRIVATE.items() if service in users]


class Secrets:
    """One file for each service, made at the first start; compose/rotate alone changes them."""

    def __init__(self, state):
        self.state = state
        self.values = {}

    def path(self, service):
        return os.path.join(self.state.secrets, f"{service}.env")

    def load(self, has_data):
        """Reads the files, and makes those that are missing. `has_data`: something may be encrypted under them already."""
        for service in SERVICES:
            try:
                with open(self.path(service)) as file:
                    self.values[service] = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
            except FileNotFoundError:
                if has_data:
                    raise Problem(f"{self.path(service)} is missing, but the data that needs it is there: restore it")
        shared = {"LATCHKEY_ROUTING_SECRET": secrets.token_hex(32), "LATCHKEY_LOG_MAC_KEYS": f"1:{secrets.token_hex(32)}"}
        for values in self.values.values():
            shared.update({name: values[name] for name in SHARED if name in values})
        for service in SERVICES:
            if service not in self.values:
                values = {name: shared.get(name) or secrets.token_hex(32) for name in names_for(service)}
                values["POSTGRES_PASSWORD"] = secrets.token_hex(24)
                self.values[service] = values
                self.write(service)
        for name in SHARED:
            files = {service: values[name] for service, values in self.values.items() if name in values}
            longest = max(files.values(), key=len)
            for service, value in files.items():
                if value == longest:
                    continue
                # A key is added to one file after the other, and that may have been interrupted.
                if name != "LATCHKEY_LOG_MAC_KEYS" or not longest.startswith(f"{value},"):
                    raise Problem(f"{name} differs between the files in {self.state.secrets}")
                self.replace(service, {name: longest})

    def replace(self, service, changes):
        """Writes a file anew; `None` takes a value away."""
        values = {**self.values[service], **changes}
        self.values[service] = {name: value for name, value in values.items() if value is not None}
        self.write(service)

    def write(self, service):
        values = self.values[service]
        write_privately(self.path(service), "".join(f"{name}={value}\n" for name, value in values.items()), durably=True)

    def names(self, service):
        """What the service is told of its file."""
        accepted = [ACCEPTED[name] for name in names_for(service) if name in ACCEPTED]
        return names_for(service) + [name for name in accepted if name in self.values[service]]

    def write_for_containers(self):
        """Beside them what each container of docker-compose.yml is told, and nothing more. Returns the folder."""
        folder = os.path.join(self.state.secrets, "containers")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for service in SERVICES:
            values = {name: self.values[service][name] for name in self.names(service)}
            values["LATCHKEY_DATABASE_URL"] = f"host=postgres dbname=latchkey user={service} password={self.password(service)}"
            self._write_container(folder, service, values)
        path = os.path.join(folder, "postgres.env")
        # The superuser's password counts only while the data is made.
        if not os.path.exists(path):
            passwords = {f"{service.upper()}_PASSWORD": self.password(service) for service in SERVICES}
            self._write_container(folder, "postgres", {"POSTGRES_USER": "postgres", "POSTGRES_PASSWORD": secrets.token_hex(24), **passwords})
        return folder

    def _write_container(self, folder, name, values):
        write_privately(os.path.join(folder, f"{name}.env"), "".join(f"{name}={value}\n" for name, value in values.items()))

    def password(self, service):
        return self.values[service]["POSTGRES_PASSWORD"]


def environment(service, caller, secrets_of, state, database_url=None):
    """The environment of one service, without its ports."""
    accepted = {other: PRIVATE[name] for name, other in ACCEPTED.items()}
    hidden = {name for name, users in {**PRIVATE, **accepted, **CREDENTIALS}.items() if service not in users}
    hidden |= {f"{name}_FILE" for name in hidden}
    result = {name: value for name, value in caller.items() if name not in hidden}

    def default(name, value):
        if not result.get(name) and not result.get(f"{name}_FILE"):
            result[name] = value

    for name in secrets_of.names(service):
        default(name, secrets_of.values[service][name])
    if database_url:
        default("LATCHKEY_DATABASE_URL", database_url)
    default("LATCHKEY_ENV", "development")
    if service == "notifier":
        default("CONSOLE_OUTBOX", state.outbox)
        if not any(name.startswith(MAIL_PROVIDERS) and value for name, value in caller.items()):
            default("NOTIFIER_EMAIL", "console")
    return result


def has_own_database(caller):
    """Whether the caller named a Postgres; then none is started here."""
    return bool(caller.get("LATCHKEY_DATABASE_URL") or caller.get("LATCHKEY_DATABASE_URL_FILE"))
