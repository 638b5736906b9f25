-- Roles and schemas of a private Postgres. Every service has a role and schemas of its own; the log belongs to a role that
-- nobody logs in as. Passwords come as psql variables.
BEGIN;
SELECT pg_advisory_xact_lock(4917003);

SELECT format('CREATE ROLE %I', name)
FROM unnest(ARRAY['latchkey_log', 'gateway', 'verification', 'identity', 'notifier']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec

ALTER ROLE latchkey_log NOLOGIN;
ALTER ROLE gateway LOGIN PASSWORD :'gateway_password';
ALTER ROLE verification LOGIN PASSWORD :'verification_password';
ALTER ROLE identity LOGIN PASSWORD :'identity_password';
ALTER ROLE notifier LOGIN PASSWORD :'notifier_password';
GRANT latchkey_log TO gateway, verification, identity, notifier;

REVOKE ALL ON DATABASE latchkey FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE latchkey TO gateway, verification, identity, notifier;
-- Rebuilds are made in schemas of their own.
GRANT CREATE ON DATABASE latchkey TO identity;
REVOKE ALL ON SCHEMA public FROM PUBLIC;

CREATE SCHEMA IF NOT EXISTS log AUTHORIZATION latchkey_log;
CREATE SCHEMA IF NOT EXISTS gateway AUTHORIZATION gateway;
CREATE SCHEMA IF NOT EXISTS verification AUTHORIZATION verification;
CREATE SCHEMA IF NOT EXISTS identity AUTHORIZATION identity;
CREATE SCHEMA IF NOT EXISTS identity_keys AUTHORIZATION identity;
CREATE SCHEMA IF NOT EXISTS identity_sealing AUTHORIZATION identity;
CREATE SCHEMA IF NOT EXISTS notifier AUTHORIZATION notifier;
CREATE SCHEMA IF NOT EXISTS notifier_sealing AUTHORIZATION notifier;
-- The gateway reads Identity's views; which ones is Identity's to say.
GRANT USAGE ON SCHEMA identity TO gateway;
COMMIT;
