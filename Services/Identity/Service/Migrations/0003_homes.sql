-- Accounts with all that belongs to them. Everything here is a projection of identity.events, as said in 0002. `home` is the
-- routing key (6 bytes): all rows of one home are changed by events of one partition, and are read together.
--
-- Nothing wrote users, identifiers or onboarding sessions before this version.

DROP VIEW identity.accounts_for_gateway;
DROP TABLE identity.users, identity.identifiers, identity.onboarding_sessions;

CREATE TABLE identity.users (
    id uuid PRIMARY KEY,
    home bytea NOT NULL CHECK (octet_length(home) = 6),
    partition integer NOT NULL,
    created_at timestamptz NOT NULL,
    -- Grows with every change of the password; what was issued for an older one is void.
    credential_version bigint NOT NULL CHECK (credential_version >= 0),
    -- Whether the password was set together with a code.
    proven boolean NOT NULL,
    disabled boolean NOT NULL,
    groups text[] NOT NULL,
    -- In identity_keys.data_keys. What is encrypted under it is bound to the key's id and the field.
    data_key uuid NOT NULL,
    -- Encrypted; NULL once erased.
    password_hash bytea,
    -- Encrypted JSON; NULL for an empty one.
    profile bytea,
    profile_version bigint NOT NULL CHECK (profile_version >= 0),
    erased_at timestamptz
);
CREATE INDEX users_home ON identity.users (home) WHERE erased_at IS NULL;

-- Addresses and numbers of users. The stamp stands here and not at the user, because a second identifier of a user lies in
-- a partition of its own.
CREATE TABLE identity.identifiers (
    subject bytea PRIMARY KEY CHECK (octet_length(subject) = 16),
    home bytea NOT NULL CHECK (octet_length(home) = 6),
    partition integer NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'sms')),
    user_id uuid NOT NULL,
    attached_at timestamptz NOT NULL,
    verified_at timestamptz,
    -- The canonical address or number, encrypted under the user's data key.
    identifier bytea NOT NULL
);
CREATE INDEX identifiers_home ON identity.identifiers (home);
CREATE INDEX identifiers_user ON identity.identifiers (user_id);

CREATE TABLE identity.onboarding_sessions (
    id uuid PRIMARY KEY,
    home bytea NOT NULL CHECK (octet_length(home) = 6),
    partition integer NOT NULL,
    subject bytea NOT NULL CHECK (octet_length(subject) = 16),
    channel text NOT NULL CHECK (channel IN ('email', 'sms')),
    status text NOT NULL CHECK (status IN ('active', 'completed', 'superseded', 'expired')),
    proof text NOT NULL CHECK (proof IN ('none', 'flag', 'code')),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    verified_at timestamptz,
    data_key uuid NOT NULL,
    -- Encrypted under the data key; NULL once it is no longer active: a completed one has left them to its user.
    identifier bytea,
    password_hash bytea,
    profile bytea,
    profile_version bigint NOT NULL CHECK (profile_version >= 0),
    completed_at timestamptz,
    user_id uuid,
    session_id uuid,
    -- The tokens of its completion, for who completes it again.
    successor text,
    CHECK ((status = 'active') = (password_hash IS NOT NULL)),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
);
CREATE INDEX onboarding_sessions_home ON identity.onboarding_sessions (home) WHERE status IN ('active', 'completed');
CREATE INDEX onboarding_sessions_expiry ON identity.onboarding_sessions (partition, expires_at);

-- Proofs that wait for a sign-up.
ALTER TABLE identity.verified_contacts
    ADD COLUMN home bytea,
    -- The command that confirmed the code: a sign-up with a code of its own names it.
    ADD COLUMN command uuid,
    -- Whether a sign-up without a code of its own may consume it.
    ADD COLUMN waiting boolean NOT NULL DEFAULT true;
UPDATE identity.verified_contacts SET home = substring(subject FROM 1 FOR 6);
ALTER TABLE identity.verified_contacts
    ALTER COLUMN home SET NOT NULL,
    ALTER COLUMN waiting DROP DEFAULT,
    ADD CHECK (octet_length(home) = 6);
CREATE INDEX verified_contacts_home ON identity.verified_contacts (home);

-- Sessions that did not end. One is live while neither `expires_at` nor 30 days since `refreshed_at` are over.
CREATE TABLE identity.sessions (
    id uuid PRIMARY KEY,
    home bytea NOT NULL CHECK (octet_length(home) = 6),
    partition integer NOT NULL,
    user_id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    refreshed_at timestamptz NOT NULL,
    -- SHA-256 of the refresh token, and of the one before it with what leads from that to this.
    refresh bytea NOT NULL CHECK (octet_length(refresh) = 32),
    previous bytea CHECK (octet_length(previous) = 32),
    successor text,
    failed_checks bigint NOT NULL,
    -- SHA-256 of the device token that the client holds.
    device bytea NOT NULL CHECK (octet_length(device) = 32),
    -- Client address and user agent at its start, encrypted under the user's data key.
    client bytea
);
CREATE INDEX sessions_home ON identity.sessions (home);
CREATE INDEX sessions_user ON identity.sessions (user_id);
CREATE INDEX sessions_expiry ON identity.sessions (partition, expires_at);

-- Sessions that ended lately: access tokens of theirs are not over yet.
CREATE TABLE identity.ended_sessions (
    id uuid PRIMARY KEY,
    partition integer NOT NULL,
    user_id uuid NOT NULL,
    ended_at timestamptz NOT NULL
);
CREATE INDEX ended_sessions_time ON identity.ended_sessions (partition, ended_at);

-- Devices of accounts, by SHA-256 of their token, each with its budget of failed logins.
CREATE TABLE identity.devices (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    home bytea NOT NULL CHECK (octet_length(home) = 6),
    partition integer NOT NULL,
    user_id uuid NOT NULL,
    issued_at timestamptz NOT NULL,
    failures bigint NOT NULL DEFAULT 0,
    failed_at timestamptz,
    blocked_until timestamptz
);
CREATE INDEX devices_home ON identity.devices (home);
CREATE INDEX devices_user ON identity.devices (user_id);

-- Budgets of failed logins, for identifiers with or without an account: of all, and of one client address (its tag).
CREATE TABLE identity.login_failures (
    subject bytea NOT NULL CHECK (octet_length(subject) = 16),
    -- Empty for the budget of all.
    address bytea NOT NULL CHECK (octet_length(address) IN (0, 8)),
    home bytea NOT NULL CHECK (octet_length(home) = 6),
    partition integer NOT NULL,
    failures bigint NOT NULL,
    failed_at timestamptz NOT NULL,
    blocked_until timestamptz,
    PRIMARY KEY (subject, address)
);
CREATE INDEX login_failures_home ON identity.login_failures (home);
CREATE INDEX login_failures_time ON identity.login_failures (partition, failed_at);

-- When the owners of addresses were last told that somebody signs up with them.
CREATE TABLE identity.sign_up_notices (
    subject bytea PRIMARY KEY CHECK (octet_length(subject) = 16),
    home bytea NOT NULL CHECK (octet_length(home) = 6),
    partition integer NOT NULL,
    noticed_at timestamptz NOT NULL
);
CREATE INDEX sign_up_notices_home ON identity.sign_up_notices (home);

-- What the gateway may see: whether an identifier has an account, and for which credential a reset would be,
CREATE VIEW identity.accounts_for_gateway AS
SELECT identifier.subject, account.id AS user_id, account.credential_version, account.disabled
FROM identity.identifiers AS identifier
JOIN identity.users AS account ON account.id = identifier.user_id
WHERE account.erased_at IS NULL;

-- which devices accounts have,
CREATE VIEW identity.devices_for_gateway AS
SELECT digest, user_id FROM identity.devices WHERE issued_at > now() - interval '365 days';

-- which sessions are live, and which ended lately, as of which position.
CREATE VIEW identity.sessions_for_gateway AS
SELECT id AS session_id, user_id FROM identity.sessions
WHERE expires_at > now() AND refreshed_at > now() - interval '30 days';

CREATE VIEW identity.revocations_for_gateway AS
SELECT id AS session_id, user_id, partition, ended_at FROM identity.ended_sessions
WHERE ended_at > now() - interval '15 minutes';

CREATE VIEW identity.checkpoints_for_gateway AS SELECT partition, position FROM identity.checkpoints;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway') THEN
        GRANT USAGE ON SCHEMA identity TO gateway;
        GRANT SELECT ON identity.accounts_for_gateway, identity.devices_for_gateway, identity.sessions_for_gateway,
            identity.revocations_for_gateway, identity.checkpoints_for_gateway TO gateway;
    END IF;
END
$$;
