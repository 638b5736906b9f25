-- What every projection has, beside the tables of its service.

-- Which generation of the tables is live. A rebuild replaces them all and raises the number; whoever writes locks the row
-- first and compares it.
CREATE TABLE {schema}.generation (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    number bigint NOT NULL
);
INSERT INTO {schema}.generation (number) VALUES (1);

-- How far each partition is projected, and from where on somebody may still wait for an answer.
CREATE TABLE {schema}.checkpoints (
    partition integer PRIMARY KEY CHECK (partition >= 0),
    position text NOT NULL,
    answers_from text NOT NULL,
    projected_by xid8 NOT NULL
);

-- What became of commands, for as long as they may come again. The detail is an answer, the code of a refusal, or the
-- fingerprint of a record that came too late.
CREATE TABLE {schema}.outcomes (
    partition integer NOT NULL,
    command uuid NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('answered', 'answered-elsewhere', 'silent', 'refused', 'expired')),
    detail bytea CHECK ((detail IS NULL) = (outcome = 'silent')),
    until timestamptz NOT NULL,
    PRIMARY KEY (partition, command)
);
CREATE INDEX outcomes_until ON {schema}.outcomes (partition, until);

-- How far the inboxes are read for good, as their owners wrote it down. No part of the projection: it only tells when a
-- sealing key has seen its last use.
CREATE TABLE {schema}.inboxes (
    topic text NOT NULL,
    partition integer NOT NULL,
    next_offset bigint NOT NULL,
    PRIMARY KEY (topic, partition)
);
