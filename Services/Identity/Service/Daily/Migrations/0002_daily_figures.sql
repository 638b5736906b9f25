-- Per day (UTC): sign-ups, and how often an address or number was verified.
CREATE TABLE figures (
    day date PRIMARY KEY,
    sign_ups bigint NOT NULL DEFAULT 0,
    verified bigint NOT NULL DEFAULT 0
);
