-- The service's own key pairs that others seal to: one for each day, drawn by whichever instance comes first. Rows are
-- deleted for good when nothing can be sealed to them any more. This schema is never backed up.

CREATE TABLE {schema}.sealing_keys (
    -- Days since 1970-01-01 in UTC.
    day integer PRIMARY KEY,
    -- The pair's name in boxes and in the topic `keys`.
    id text NOT NULL UNIQUE,
    -- X25519.
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    -- The private half, encrypted under the service's own secret and bound to `id`.
    wrapped bytea NOT NULL,
    -- Senders use the key from `not_before` until `not_after`.
    not_before timestamptz NOT NULL,
    not_after timestamptz NOT NULL CHECK (not_after > not_before)
);
