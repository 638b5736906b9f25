-- What a user is told of themselves is made of this, the profile and the identifiers apart, which are encrypted: their version and
-- the times of their coming stand for them. A gateway that remembers an answer asks whether all of it is as it was. A row for each
-- identifier.
CREATE VIEW identity.user_versions_for_gateway AS
SELECT account.id AS user_id, account.groups, account.profile_version, identifier.subject, identifier.attached_at,
    identifier.verified_at
FROM identity.users AS account
LEFT JOIN identity.identifiers AS identifier ON identifier.user_id = account.id
WHERE account.erased_at IS NULL AND NOT account.disabled;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway') THEN
        GRANT SELECT ON identity.user_versions_for_gateway TO gateway;
    END IF;
END
$$;
