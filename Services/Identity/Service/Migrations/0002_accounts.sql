-- Everything in this schema is a projection of identity.events and can be rebuilt from it. Each row belongs to one partition
-- of the log, and only events of that partition change it; so there are no foreign keys, and a rebuild replays partitions in
-- parallel. No address, number or name stands here readable: an identifier is its subject, a pseudonym.

CREATE TABLE identity.users (
    id uuid PRIMARY KEY,
    partition integer NOT NULL,
    created_at timestamptz NOT NULL,
    -- Grows with every change of the credential; what was issued for an older one is void.
    credential_version bigint NOT NULL DEFAULT 0 CHECK (credential_version >= 0),
    disabled boolean NOT NULL DEFAULT false,
    erased_at timestamptz
);

-- Addresses and numbers of users. The stamp stands here and not at the user, because a second identifier of a user lies in
-- a partition of its own.
CREATE TABLE identity.identifiers (
    subject bytea PRIMARY KEY CHECK (octet_length(subject) = 16),
    partition integer NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'sms')),
    user_id uuid NOT NULL,
    attached_at timestamptz NOT NULL,
    verified_at timestamptz
);
CREATE INDEX identifiers_user ON identity.identifiers (user_id);

CREATE TABLE identity.onboarding_sessions (
    id uuid PRIMARY KEY,
    partition integer NOT NULL,
    subject bytea NOT NULL CHECK (octet_length(subject) = 16),
    channel text NOT NULL CHECK (channel IN ('email', 'sms')),
    status text NOT NULL CHECK (status IN ('active', 'completed', 'superseded')),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    verified_at timestamptz,
    superseded_by uuid,
    CHECK ((status = 'superseded') = (superseded_by IS NOT NULL))
);
CREATE INDEX onboarding_sessions_active ON identity.onboarding_sessions (subject) WHERE status = 'active';

-- Proofs that wait for the next onboarding session of their identifier.
CREATE TABLE identity.verified_contacts (
    subject bytea PRIMARY KEY CHECK (octet_length(subject) = 16),
    partition integer NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'sms')),
    confirmation uuid NOT NULL,
    verified_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX verified_contacts_expiry ON identity.verified_contacts (partition, expires_at);

-- What the gateway may see: whether an identifier has an account, and for which credential a reset would be.
CREATE VIEW identity.accounts_for_gateway AS
SELECT identifier.subject, account.id AS user_id, account.credential_version, account.disabled
FROM identity.identifiers AS identifier
JOIN identity.users AS account ON account.id = identifier.user_id
WHERE account.erased_at IS NULL;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway') THEN
        GRANT USAGE ON SCHEMA identity TO gateway;
        GRANT SELECT ON identity.accounts_for_gateway TO gateway;
    END IF;
END
$$;
