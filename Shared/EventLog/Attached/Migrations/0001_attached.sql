-- What every attached projection has, beside its own tables: how far each chain is taken in.
CREATE TABLE checkpoints (
    topic text NOT NULL,
    partition integer NOT NULL CHECK (partition >= 0),
    position text NOT NULL,
    PRIMARY KEY (topic, partition)
);
