// The limit of a request that goes through the log in Postgres: a command, the event that it leads to, the reading back of
// that event, and a reply, with nothing in between; over libpq, by the SQL of Latchkey's log. Commands and replies commit
// asynchronously, events durably, and each side is told by NOTIFY that there is something to read.
//
//   limit-postgres DATABASE SLOTS SECONDS    one JSON object: how many, how fast
//
// The database has the schema of the log and is used for nothing else.
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measurement.h"

// Rows of log.topics.
enum { commands = 1, events = 2, replies = 3 };
enum { most = 1000 };

static const char *database;
static volatile int is_over;

static void fail(PGconn *connection) {
    fprintf(stderr, "limit-postgres: %s", PQerrorMessage(connection));
    exit(1);
}

static PGresult *run(PGconn *connection, const char *statement) {
    PGresult *result = PQexec(connection, statement);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) fail(connection);
    return result;
}

static PGconn *connect_to(const char *commit) {
    char statement[64];
    PGconn *connection = PQconnectdb(database);
    if (PQstatus(connection) != CONNECTION_OK) fail(connection);
    snprintf(statement, sizeof statement, "SET synchronous_commit = %s", commit);
    PQclear(run(connection, statement));
    PQclear(PQprepare(connection, "append",
                      "SELECT log.append($1, ARRAY[$2::smallint], ARRAY[0::smallint], ARRAY[cardinality(slots)],"
                      " array_fill(1, ARRAY[cardinality(slots)]), ARRAY(SELECT generate_series(0, cardinality(slots) - 1)),"
                      " array_fill('\\x010203040506'::bytea, ARRAY[cardinality(slots)]),"
                      " array_fill(convert_to(repeat('h', 500), 'UTF8'), ARRAY[cardinality(slots)]),"
                      " ARRAY(SELECT int4send(slot) || convert_to(repeat('v', 400), 'UTF8') FROM unnest(slots) AS slot))"
                      " FROM (SELECT $3::integer[] AS slots) AS given",
                      0, NULL));
    PQclear(PQprepare(connection, "passing",
                      "SELECT \"offset\", headers, value FROM log.passing_records"
                      " WHERE topic = $1 AND partition = 0 AND \"offset\" >= $2 ORDER BY \"offset\" LIMIT 1000",
                      0, NULL));
    PQclear(PQprepare(connection, "lasting",
                      "SELECT \"offset\", headers, value FROM log.lasting_records"
                      " WHERE topic = $1 AND partition = 0 AND \"offset\" >= $2 ORDER BY \"offset\" LIMIT 1000",
                      0, NULL));
    return connection;
}

static void append(PGconn *connection, int topic, const int *slots, int count) {
    static _Thread_local char list[most * 8 + 2];
    char number[16];
    int length = 0;
    for (int index = 0; index < count; index++) length += sprintf(list + length, "%c%d", index ? ',' : '{', slots[index]);
    sprintf(list + length, "}");
    sprintf(number, "%d", topic);
    const char *values[] = {topic == events ? "true" : "false", number, list};
    PGresult *result = PQexecPrepared(connection, "append", 3, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(connection);
    PQclear(result);
}

static void notify(PGconn *connection, int topic) {
    char statement[32];
    snprintf(statement, sizeof statement, "NOTIFY topic_%d", topic);
    PQclear(run(connection, statement));
}

// Reads what is new; returns how many.
static int read_new(PGconn *connection, int topic, long long *next, int *slots) {
    char number[16], offset[32];
    sprintf(number, "%d", topic);
    sprintf(offset, "%lld", *next);
    const char *values[] = {number, offset};
    PGresult *result =
        PQexecPrepared(connection, topic == events ? "lasting" : "passing", 2, values, NULL, NULL, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(connection);
    int count = PQntuples(result);
    for (int index = 0; index < count; index++) {
        const unsigned char *value = (const unsigned char *)PQgetvalue(result, index, 2);
        slots[index] = value[0] << 24 | value[1] << 16 | value[2] << 8 | value[3];
    }
    *next += count;
    PQclear(result);
    return count;
}

static void listen_to(PGconn *connection, int topic) {
    char statement[32];
    snprintf(statement, sizeof statement, "LISTEN topic_%d", topic);
    PQclear(run(connection, statement));
}

static void wait_for_news(PGconn *connection) {
    PGnotify *news;
    struct pollfd entry = {PQsocket(connection), POLLIN, 0};
    int is_told = 0;
    PQconsumeInput(connection);
    while ((news = PQnotifies(connection))) {
        PQfreemem(news);
        is_told = 1;
    }
    if (is_told) return;
    poll(&entry, 1, 100);
    PQconsumeInput(connection);
    while ((news = PQnotifies(connection))) PQfreemem(news);
}

// A service that answers every command as soon as it has read back its event.
static void *serve(void *context) {
    PGconn *in = connect_to("off"), *durably = connect_to("on"), *out = connect_to("off");
    long long next_command = 0, next_event = 0;
    int slots[most], count;
    listen_to(in, commands);
    while (!is_over) {
        while ((count = read_new(in, commands, &next_command, slots)) > 0) {
            append(durably, events, slots, count);
            count = read_new(in, events, &next_event, slots);
            append(out, replies, slots, count);
            notify(out, replies);
        }
        wait_for_news(in);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "limit-postgres DATABASE SLOTS SECONDS\n");
        return 2;
    }
    database = arguments[1];
    int slots = atoi(arguments[2]), ready[most], begun = 0;
    if (slots < 1 || slots > most) return 2;
    PGconn *in = connect_to("off"), *out = connect_to("off");
    PQclear(run(out, "TRUNCATE log.passing_records, log.lasting_records"));
    PQclear(run(out, "UPDATE log.partitions SET first_offset = 0, next_offset = 0"));
    listen_to(in, replies);
    pthread_t service;
    pthread_create(&service, NULL, serve, NULL);
    struct measurement *measurement = measurement_new(slots, atof(arguments[3]));
    long long next = 0;
    for (int slot = 0; slot < slots; slot++) ready[begun++] = slot;
    while (!measurement_is_over(measurement)) {
        if (begun > 0) {
            for (int index = 0; index < begun; index++) measurement_begin(measurement, ready[index]);
            append(out, commands, ready, begun);
            notify(out, commands);
            begun = 0;
        }
        int answered[most], answers = read_new(in, replies, &next, answered);
        for (int index = 0; index < answers; index++) {
            if (measurement_end(measurement, answered[index])) ready[begun++] = answered[index];
        }
        if (answers == 0) wait_for_news(in);
    }
    measurement_print(measurement);
    is_over = 1;
    pthread_join(service, NULL);
    return 0;
}
