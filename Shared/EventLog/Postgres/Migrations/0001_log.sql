-- What a log is: drawn and fixed when it is provisioned.
CREATE TABLE log.description (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    id bytea NOT NULL CHECK (octet_length(id) = 16),
    partitions integer NOT NULL CHECK (partitions > 0)
);

CREATE TABLE log.topics (
    id smallint PRIMARY KEY,
    name text NOT NULL UNIQUE,
    -- How long records are kept, in milliseconds; NULL is for ever. It also decides in which table they lie.
    retention bigint
);

-- One row for each partition: which offsets it has. Whoever appends holds the row's lock until its commit, so offsets have
-- no gaps, and their order is the order of the commits. Rows are updated all the time: on half-empty pages, updates stay
-- on their page and need neither index nor vacuum.
CREATE TABLE log.partitions (
    topic smallint NOT NULL REFERENCES log.topics,
    partition smallint NOT NULL,
    -- The offset of the first record that is left.
    first_offset bigint NOT NULL DEFAULT 0,
    -- The offset that the next record gets.
    next_offset bigint NOT NULL DEFAULT 0,
    -- The append time of the last record, in milliseconds since 1970.
    last_time bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (topic, partition)
) WITH (fillfactor = 30, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0,
    autovacuum_analyze_threshold = 1000000);

-- Records that stay for ever. Ciphertext does not compress, so nothing tries to; and a record of up to 8 kB stays in its row.
CREATE TABLE log.lasting_records (
    topic smallint NOT NULL,
    partition smallint NOT NULL,
    "offset" bigint NOT NULL,
    time bigint NOT NULL,
    key bytea NOT NULL,
    headers bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (topic, partition, "offset")
) WITH (toast_tuple_target = 8160);

-- Records that are deleted after a while, in a table of their own: vacuum never has to look through the lasting ones.
CREATE TABLE log.passing_records (
    topic smallint NOT NULL,
    partition smallint NOT NULL,
    "offset" bigint NOT NULL,
    time bigint NOT NULL,
    key bytea NOT NULL,
    headers bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (topic, partition, "offset")
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 5000,
    autovacuum_analyze_scale_factor = 1, autovacuum_analyze_threshold = 100000);

ALTER TABLE log.lasting_records
    ALTER COLUMN key SET STORAGE EXTERNAL,
    ALTER COLUMN headers SET STORAGE EXTERNAL,
    ALTER COLUMN value SET STORAGE EXTERNAL;
ALTER TABLE log.passing_records
    ALTER COLUMN key SET STORAGE EXTERNAL,
    ALTER COLUMN headers SET STORAGE EXTERNAL,
    ALTER COLUMN value SET STORAGE EXTERNAL;

-- The positions of consumer groups.
CREATE TABLE log.positions (
    group_name text NOT NULL,
    topic smallint NOT NULL,
    partition smallint NOT NULL,
    "offset" bigint NOT NULL,
    metadata text NOT NULL,
    PRIMARY KEY (group_name, topic, partition)
) WITH (fillfactor = 50);

-- Who takes part in a consumer group, and was heard of when.
CREATE TABLE log.members (
    group_name text NOT NULL,
    member bytea NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    client text NOT NULL,
    heartbeat timestamptz NOT NULL,
    PRIMARY KEY (group_name, member)
) WITH (fillfactor = 30);

-- Which member has which partition of its group's topic.
CREATE TABLE log.shares (
    group_name text NOT NULL,
    partition smallint NOT NULL,
    member bytea,
    PRIMARY KEY (group_name, partition)
) WITH (fillfactor = 50);

CREATE FUNCTION log.milliseconds() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Appends records that come grouped by partition, the groups in ascending order, so that no two callers wait for each
-- other. Gives the first offset and the append time of each group.
--
-- Time never runs back within a partition, unless what stands there is more than two minutes ahead: then a clock was wrong,
-- and the clock of now rules.
CREATE FUNCTION log.append(
    lasting boolean, topics smallint[], partitions smallint[], counts integer[],
    record_groups integer[], record_numbers integer[], record_keys bytea[], record_headers bytea[], record_values bytea[],
    OUT first_offsets bigint[], OUT times bigint[]
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    clock bigint;
    first bigint;
    append_time bigint;
BEGIN
    FOR i IN 1 .. cardinality(topics) LOOP
        UPDATE log.partitions AS p
        SET next_offset = p.next_offset + counts[i],
            last_time = CASE
                WHEN p.last_time > log.milliseconds() + 120000 THEN log.milliseconds()
                ELSE greatest(p.last_time, log.milliseconds())
            END
        WHERE p.topic = topics[i] AND p.partition = partitions[i]
        RETURNING p.next_offset - counts[i], p.last_time INTO STRICT first, append_time;
        first_offsets[i] := first;
        times[i] := append_time;
    END LOOP;
    IF lasting THEN
        INSERT INTO log.lasting_records (topic, partition, "offset", time, key, headers, value)
        SELECT topics[g], partitions[g], first_offsets[g] + n, times[g], k, h, v
        FROM unnest(record_groups, record_numbers, record_keys, record_headers, record_values) AS r(g, n, k, h, v);
    ELSE
        INSERT INTO log.passing_records (topic, partition, "offset", time, key, headers, value)
        SELECT topics[g], partitions[g], first_offsets[g] + n, times[g], k, h, v
        FROM unnest(record_groups, record_numbers, record_keys, record_headers, record_values) AS r(g, n, k, h, v);
    END IF;
END
$$;

-- The first offset of a partition whose record was appended at or after a time; the end if there is none. Offsets have no
-- gaps and times do not run back, so it halves what is left.
CREATE FUNCTION log.offset_at(my_topic smallint, my_partition smallint, wanted bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    low bigint;
    high bigint;
    middle bigint;
    found_time bigint;
BEGIN
    SELECT first_offset, next_offset INTO STRICT low, high
    FROM log.partitions WHERE topic = my_topic AND partition = my_partition;
    WHILE low < high LOOP
        middle := (low + high) / 2;
        SELECT time INTO found_time FROM (
            SELECT time FROM log.lasting_records WHERE topic = my_topic AND partition = my_partition AND "offset" = middle
            UNION ALL
            SELECT time FROM log.passing_records WHERE topic = my_topic AND partition = my_partition AND "offset" = middle
        ) AS record;
        IF found_time >= wanted THEN high := middle; ELSE low := middle + 1; END IF;
    END LOOP;
    RETURN low;
END
$$;

-- Deletes at most so many records of one partition that are past their time, and gives how many. Somebody else's doing the
-- same is enough.
CREATE FUNCTION log.expire(my_topic smallint, my_partition smallint, most integer) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    horizon bigint;
    low bigint;
    high bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('latchkey log expiry', my_topic * 100000 + my_partition)) THEN
        RETURN 0;
    END IF;
    SELECT log.milliseconds() - t.retention, p.first_offset INTO STRICT horizon, low
    FROM log.partitions AS p JOIN log.topics AS t ON t.id = p.topic WHERE p.topic = my_topic AND p.partition = my_partition;
    SELECT coalesce(min("offset") FILTER (WHERE time >= horizon), max("offset") + 1) INTO high FROM (
        SELECT "offset", time FROM log.passing_records
        WHERE topic = my_topic AND partition = my_partition AND "offset" >= low ORDER BY "offset" LIMIT most
    ) AS oldest;
    IF high IS NULL OR high = low THEN RETURN 0; END IF;
    DELETE FROM log.passing_records WHERE topic = my_topic AND partition = my_partition AND "offset" >= low AND "offset" < high;
    UPDATE log.partitions SET first_offset = high WHERE topic = my_topic AND partition = my_partition;
    RETURN high - low;
END
$$;

-- A member of a group says that it lives and gives back what it was asked for; it learns what it holds, and what of that it
-- should give back. It takes free partitions up to its fair share: the members that came first have one more where the
-- number of partitions does not divide. It never takes what another living member holds.
--
-- A member that was not heard of for its lifetime is out. While the server was away nobody could be heard of, so that time
-- counts from the server's start.
CREATE FUNCTION log.attend(
    my_group text, my_topic smallint, me bytea, my_client text, given_back smallint[], lifetime_milliseconds bigint,
    OUT was_member boolean, OUT held smallint[], OUT surplus smallint[]
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    changed boolean := false;
    members integer;
    older integer;
    total integer;
    fair integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('latchkey log group ' || my_group, 0));
    UPDATE log.members SET heartbeat = clock_timestamp() WHERE group_name = my_group AND member = me;
    was_member := FOUND;
    IF NOT was_member THEN
        changed := true;
        INSERT INTO log.members (group_name, member, client, heartbeat) VALUES (my_group, me, my_client, clock_timestamp());
        INSERT INTO log.shares (group_name, partition)
        SELECT my_group, p.partition FROM log.partitions AS p WHERE p.topic = my_topic ON CONFLICT DO NOTHING;
    END IF;

    DELETE FROM log.members WHERE group_name = my_group AND member <> me
        AND greatest(heartbeat, pg_postmaster_start_time())
            < clock_timestamp() - lifetime_milliseconds * interval '1 millisecond';
    UPDATE log.shares AS s SET member = NULL WHERE s.group_name = my_group AND s.member IS NOT NULL AND (
        (s.member = me AND s.partition = ANY (given_back))
        OR NOT EXISTS (SELECT FROM log.members AS m WHERE m.group_name = my_group AND m.member = s.member));
    IF FOUND THEN changed := true; END IF;

    SELECT count(*), count(*) FILTER (WHERE m.number < mine.number) INTO members, older
    FROM log.members AS m, log.members AS mine
    WHERE m.group_name = my_group AND mine.group_name = my_group AND mine.member = me;
    SELECT count(*) INTO total FROM log.shares WHERE group_name = my_group;
    fair := total / members + CASE WHEN older < total % members THEN 1 ELSE 0 END;

    SELECT coalesce(array_agg(partition ORDER BY partition), '{}') INTO held
    FROM log.shares WHERE group_name = my_group AND member = me;
    IF cardinality(held) < fair THEN
        WITH free AS (
            SELECT partition FROM log.shares WHERE group_name = my_group AND member IS NULL
            ORDER BY partition LIMIT fair - cardinality(held)
        ), taken AS (
            UPDATE log.shares AS s SET member = me FROM free WHERE s.group_name = my_group AND s.partition = free.partition
            RETURNING s.partition
        )
        SELECT held || coalesce(array_agg(partition ORDER BY partition), '{}'), changed OR count(*) > 0 INTO held, changed
        FROM taken;
    END IF;
    surplus := held[fair + 1 :];
    -- Heartbeats may be lost when the server crashes, members must not: what is left of them would take their share.
    IF changed THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
    IF changed AND members > 1 THEN PERFORM pg_notify('log_groups', my_group); END IF;
END
$$;

-- A member goes, and what it held is free.
CREATE FUNCTION log.leave(my_group text, me bytea) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('latchkey log group ' || my_group, 0));
    DELETE FROM log.members WHERE group_name = my_group AND member = me;
    UPDATE log.shares SET member = NULL WHERE group_name = my_group AND member = me;
    PERFORM pg_notify('log_groups', my_group);
END
$$;
