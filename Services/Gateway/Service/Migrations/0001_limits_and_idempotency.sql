-- Budgets of clients and identifiers. Unlogged: after a crash of the server everybody starts with a full budget.
CREATE UNLOGGED TABLE gateway.limits (
    -- HMAC of the limit's name and whose budget it is.
    key bytea PRIMARY KEY,
    -- When the requests of the last window were admitted, in milliseconds since 1970.
    hits bigint[] NOT NULL,
    -- The last statement about it: how many it asked for, how many were admitted, the limit, the window in milliseconds, when.
    asked integer NOT NULL,
    admitted integer NOT NULL,
    most integer NOT NULL,
    span bigint NOT NULL,
    at bigint NOT NULL
) WITH (fillfactor = 60);

-- Requests with an Idempotency-Key.
CREATE TABLE gateway.idempotency (
    -- HMAC of method, path, authorization and key.
    scope bytea PRIMARY KEY,
    -- HMAC of the body.
    body bytea NOT NULL,
    -- The request's commands take their ids from it.
    nonce bytea NOT NULL,
    -- Who works on the answer, and until when that is so for certain.
    holder bytea NOT NULL,
    held_until timestamptz NOT NULL,
    -- Encrypted. NULL: there is none yet.
    answer bytea,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX idempotency_expiry ON gateway.idempotency (expires_at);
