-- Everything in this schema is a projection of notifier.events and can be rebuilt from it. Each row belongs to one partition
-- of the log, and only events of that partition change it. Recipients and codes stand here as they stand in the log: sealed
-- to the Notifier, under keys that are destroyed after two days.

-- Which generation of the tables is live. A rebuild replaces them all and raises the number; whoever writes locks the row
-- first and compares it.
CREATE TABLE notifier.generation (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    number bigint NOT NULL
);
INSERT INTO notifier.generation (number) VALUES (1);

-- How far each partition is projected, and from where on somebody may still wait for an answer.
CREATE TABLE notifier.checkpoints (
    partition integer PRIMARY KEY CHECK (partition >= 0),
    position text NOT NULL,
    answers_from text NOT NULL,
    projected_by xid8 NOT NULL
);

-- What commands were told, for as long as they may come again.
CREATE TABLE notifier.outcomes (
    command uuid PRIMARY KEY,
    partition integer NOT NULL,
    answer bytea NOT NULL,
    until timestamptz NOT NULL
);
CREATE INDEX outcomes_until ON notifier.outcomes (partition, until);

-- How far the inboxes are read for good, as their owners wrote it down. No part of the projection: it only tells when a
-- sealing key has seen its last use.
CREATE TABLE notifier.inboxes (
    topic text NOT NULL,
    partition integer NOT NULL,
    next_offset bigint NOT NULL,
    PRIMARY KEY (topic, partition)
);

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
