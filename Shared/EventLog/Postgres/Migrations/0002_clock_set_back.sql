-- A member of a group says that it lives and gives back what it was asked for; it learns what it holds, and what of that it
-- should give back. It takes free partitions up to its fair share: the members that came first have one more where the
-- number of partitions does not divide. It never takes what another living member holds.
--
-- A member that was not heard of for its lifetime is out. While the server was away nobody could be heard of, so that time
-- counts from the server's start. Where the server's clock was set back, heartbeats and the start may lie in the future: then
-- it counts from now.
CREATE OR REPLACE FUNCTION log.attend(
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

    UPDATE log.members SET heartbeat = clock_timestamp() WHERE group_name = my_group AND heartbeat > clock_timestamp();
    DELETE FROM log.members WHERE group_name = my_group AND member <> me
        AND greatest(heartbeat, CASE WHEN pg_postmaster_start_time() <= clock_timestamp() THEN pg_postmaster_start_time() END)
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
