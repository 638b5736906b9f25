-- What proofs of the log are signed with: an Ed25519 key, made by the first audit that needs one. It is never replaced, so that
-- proofs of any two days can be compared.
CREATE TABLE {schema}.audit_key (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    public_key bytea NOT NULL CHECK (octet_length(public_key) = 32),
    -- The seed, wrapped under a key that follows from Identity's secret.
    wrapped_seed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
