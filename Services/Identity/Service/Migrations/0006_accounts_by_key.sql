-- The same accounts, each found by its id: a plan made while there are few users would go through all of them for each
-- identifier, and be kept when they are many. OFFSET makes the subquery one that the planner leaves as it is.
CREATE OR REPLACE VIEW identity.accounts_for_gateway AS
SELECT identifier.subject, account.id AS user_id, account.credential_version, account.disabled
FROM identity.identifiers AS identifier
CROSS JOIN LATERAL (
    SELECT id, credential_version, disabled FROM identity.users WHERE id = identifier.user_id AND erased_at IS NULL OFFSET 0
) AS account;
