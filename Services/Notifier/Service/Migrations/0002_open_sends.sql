-- Everything in this schema is a projection of notifier.events and can be rebuilt from it. Each row belongs to one partition
-- of the log, and only events of that partition change it. Recipients and codes stand here as they stand in the log: sealed
-- to the Notifier, under keys that are destroyed after two days.

-- Sends that were attempted and neither delivered nor expired.
CREATE TABLE notifier.sends (
    -- The id of the event that asked for the send.
    id uuid PRIMARY KEY,
    partition integer NOT NULL,
    subject bytea NOT NULL CHECK (octet_length(subject) = 16),
    purpose text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'sms')),
    locale text,
    requested_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    recipient text,
    code text,
    -- The last attempt, when it was decided, and the process that may make it.
    attempt integer NOT NULL CHECK (attempt > 0),
    provider text NOT NULL,
    attempted_at timestamptz NOT NULL,
    attempted_by text NOT NULL,
    status text NOT NULL CHECK (status IN ('attempting', 'waiting', 'failed', 'unknown')),
    -- Why the last attempt failed, and when the next one is due.
    reason text,
    retry_at timestamptz,
    CHECK ((status = 'waiting') = (retry_at IS NOT NULL)),
    CHECK ((status IN ('waiting', 'failed')) = (reason IS NOT NULL))
);
CREATE INDEX sends_open ON notifier.sends (partition) WHERE status IN ('attempting', 'waiting');
CREATE INDEX sends_ended ON notifier.sends (attempted_at) WHERE status IN ('failed', 'unknown');
