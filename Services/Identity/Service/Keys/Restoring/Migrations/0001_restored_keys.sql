-- Data keys out of a backup, held back: nothing is opened with them before everything that the log holds is projected, and then
-- those alone are put back that somebody's row still names. Who was erased since the backup stays erased.
CREATE TABLE identity_restored.data_keys (
    id uuid PRIMARY KEY,
    wrapped bytea NOT NULL,
    created_at timestamptz NOT NULL
);
