-- An access token lives for an hour at most (ACCESS_TOKEN_LIFETIME), and a session that ended is looked for as long as a token
-- of it may be presented, with room for clocks that differ.
CREATE OR REPLACE VIEW identity.revocations_for_gateway AS
SELECT id AS session_id, user_id, partition, ended_at FROM identity.ended_sessions
WHERE ended_at > now() - interval '65 minutes';
