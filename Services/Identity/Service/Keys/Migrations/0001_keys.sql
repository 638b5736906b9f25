-- The keys of Identity that must be backed up, each wrapped under a key that follows from Identity's secret. A backup of this
-- schema that is restored may hold data keys that were destroyed since; they are destroyed again before it is used.

-- What is known of one person is encrypted under one data key. A row is committed before anything is encrypted under its key.
CREATE TABLE {schema}.data_keys (
    id uuid PRIMARY KEY,
    wrapped bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    destroyed_at timestamptz,
    reason text CHECK (reason IN ('erased', 'superseded', 'expired', 'unused')),
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL)),
    CHECK ((destroyed_at IS NULL) = (reason IS NULL))
)
-- What was destroyed shall leave the pages of the table soon, however large the table is.
WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20);

-- What access tokens and onboarding tokens are signed with. One key signs; the next one is known to all readers before it
-- does; retired ones are known for as long as tokens that they signed may live.
CREATE TABLE {schema}.signing_keys (
    kid text PRIMARY KEY,
    algorithm text NOT NULL CHECK (algorithm IN ('ES256', 'RS256')),
    state text NOT NULL CHECK (state IN ('next', 'current', 'retired', 'revoked')),
    -- A JSON Web Key.
    public_jwk jsonb NOT NULL,
    -- PKCS 8; gone once the key signs no more.
    wrapped_private bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    current_since timestamptz,
    retired_at timestamptz,
    CHECK ((wrapped_private IS NOT NULL) = (state IN ('next', 'current'))),
    CHECK ((current_since IS NOT NULL) OR state IN ('next', 'revoked')),
    CHECK ((retired_at IS NOT NULL) = (state IN ('retired', 'revoked')))
);
CREATE UNIQUE INDEX signing_keys_current ON {schema}.signing_keys (state) WHERE state IN ('next', 'current');

-- What the gateways check tokens with. A retired key is kept for two days, which is twice as long as any token lives.
CREATE VIEW {schema}.signing_keys_for_gateway AS
SELECT kid, algorithm, state, public_jwk
FROM {schema}.signing_keys
WHERE state IN ('next', 'current') OR state = 'retired' AND retired_at > now() - interval '2 days';

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway') THEN
        GRANT USAGE ON SCHEMA {schema} TO gateway;
        GRANT SELECT ON {schema}.signing_keys_for_gateway TO gateway;
    END IF;
END
$$;
