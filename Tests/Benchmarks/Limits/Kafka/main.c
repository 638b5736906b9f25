// The limit of a request that goes through Kafka: a command, the event that it leads to, the reading back of that event,
// and a reply, with nothing in between; over librdkafka, with Latchkey's settings and number of partitions.
//
//   limit-kafka round-trips SERVERS PREFIX PARTITIONS SLOTS SECONDS    one JSON object: how many, how fast
//   limit-kafka records SERVERS PREFIX                                 how many records the topics hold whose names begin so
//   limit-kafka remove SERVERS PREFIX                                  removes those topics
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measurement.h"

enum { record_size = 900 };

static int partitions;
static char commands[256], events[256], replies[256];
static volatile int is_over;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "limit-kafka: %s: %s\n", what, why);
    exit(1);
}

// Properties come as pairs, ended by NULL.
static rd_kafka_t *client(rd_kafka_type_t type, const char *servers, ...) {
    char error[512];
    rd_kafka_conf_t *configuration = rd_kafka_conf_new();
    const char *name = "bootstrap.servers", *value = servers;
    va_list list;
    va_start(list, servers);
    do {
        if (rd_kafka_conf_set(configuration, name, value, error, sizeof error) != RD_KAFKA_CONF_OK) fail(name, error);
        name = va_arg(list, const char *);
        if (name) value = va_arg(list, const char *);
    } while (name);
    va_end(list);
    rd_kafka_t *handle = rd_kafka_new(type, configuration, error, sizeof error);
    if (!handle) fail("client", error);
    return handle;
}

static rd_kafka_t *producer(const char *servers) {
    return client(RD_KAFKA_PRODUCER, servers, "enable.idempotence", "true", "acks", "all", "linger.ms", "0",
                  "socket.nagle.disable", "true", NULL);
}

static rd_kafka_t *consumer(const char *servers, const char *first, const char *second) {
    rd_kafka_t *handle = client(RD_KAFKA_CONSUMER, servers, "group.id", "bench", "enable.auto.commit", "false",
                                "socket.nagle.disable", "true", "fetch.wait.max.ms", "100", NULL);
    rd_kafka_poll_set_consumer(handle);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2 * partitions);
    for (int partition = 0; partition < partitions; partition++) {
        rd_kafka_topic_partition_list_add(list, first, partition)->offset = RD_KAFKA_OFFSET_END;
        if (second) rd_kafka_topic_partition_list_add(list, second, partition)->offset = RD_KAFKA_OFFSET_END;
    }
    rd_kafka_assign(handle, list);
    for (int index = 0; index < list->cnt; index++) {
        int64_t low, high;
        rd_kafka_query_watermark_offsets(handle, list->elems[index].topic, list->elems[index].partition, &low, &high, 10000);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return handle;
}

static void append(rd_kafka_t *handle, const char *topic, int slot) {
    static const char rest[record_size];
    char value[record_size];
    memcpy(value, rest, sizeof value);
    memcpy(value, &slot, sizeof slot);
    rd_kafka_resp_err_t code = rd_kafka_producev(
        handle, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(slot % partitions), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(&slot, sizeof slot), RD_KAFKA_V_VALUE(value, sizeof value), RD_KAFKA_V_END);
    if (code) fail("producing", rd_kafka_err2str(code));
}

// A service that answers every command as soon as it has read back its event.
static void *serve(void *servers) {
    rd_kafka_t *out = producer(servers), *in = consumer(servers, commands, events);
    while (!is_over) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(in, 100);
        if (!message) continue;
        if (!message->err) {
            int slot;
            memcpy(&slot, message->payload, sizeof slot);
            append(out, strcmp(rd_kafka_topic_name(message->rkt), commands) ? replies : events, slot);
        }
        rd_kafka_message_destroy(message);
        rd_kafka_poll(out, 0);
    }
    rd_kafka_flush(out, 5000);
    rd_kafka_consumer_close(in);
    return NULL;
}

static void make_topics(const char *servers) {
    char error[512];
    rd_kafka_t *handle = producer(servers);
    rd_kafka_NewTopic_t *topics[3] = {
        rd_kafka_NewTopic_new(commands, partitions, -1, error, sizeof error),
        rd_kafka_NewTopic_new(events, partitions, -1, error, sizeof error),
        rd_kafka_NewTopic_new(replies, partitions, -1, error, sizeof error),
    };
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    rd_kafka_CreateTopics(handle, topics, 3, NULL, queue);
    // They may be there already.
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 20000);
    if (!event) fail("topics", "no answer");
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy_array(topics, 3);
    rd_kafka_destroy(handle);
}

static void measure(char *servers, const char *prefix, int slots, double seconds) {
    snprintf(commands, sizeof commands, "%slimit.commands", prefix);
    snprintf(events, sizeof events, "%slimit.events", prefix);
    snprintf(replies, sizeof replies, "%slimit.replies", prefix);
    make_topics(servers);
    pthread_t service;
    pthread_create(&service, NULL, serve, servers);
    rd_kafka_t *out = producer(servers), *in = consumer(servers, replies, NULL);
    struct measurement *measurement = NULL;
    // One round trip for each partition first, so that every connection and every topic is known.
    int awaited = partitions;
    int64_t deadline = microseconds_now() + 30000000;
    for (int slot = 0; slot < partitions; slot++) append(out, commands, slot);
    while (!measurement || !measurement_is_over(measurement)) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(in, 100);
        rd_kafka_poll(out, 0);
        if (!message) {
            if (microseconds_now() > deadline) fail("round trips", "no answer");
            // What was sent before the other side had found the end was not seen by it.
            for (int slot = 0; !measurement && slot < partitions; slot++) append(out, commands, slot);
            continue;
        }
        if (!message->err) {
            deadline = microseconds_now() + 30000000;
            int slot;
            memcpy(&slot, message->payload, sizeof slot);
            if (!measurement) {
                if (--awaited == 0) {
                    // Leftovers of the first ones are drained before anything counts.
                    rd_kafka_message_t *left;
                    while ((left = rd_kafka_consumer_poll(in, 300))) rd_kafka_message_destroy(left);
                    measurement = measurement_new(slots, seconds);
                    for (int first = 0; first < slots; first++) {
                        measurement_begin(measurement, first);
                        append(out, commands, first);
                    }
                }
            } else if (measurement_end(measurement, slot)) {
                measurement_begin(measurement, slot);
                append(out, commands, slot);
            }
        }
        rd_kafka_message_destroy(message);
    }
    measurement_print(measurement);
    is_over = 1;
    pthread_join(service, NULL);
    rd_kafka_consumer_close(in);
}

// Counts the records of all topics with this prefix, or removes the topics.
static void count_or_remove(const char *servers, const char *prefix, int removes) {
    rd_kafka_t *handle = producer(servers);
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 1, NULL, &metadata, 10000);
    if (code) fail("metadata", rd_kafka_err2str(code));
    rd_kafka_DeleteTopic_t *topics[64];
    size_t found = 0;
    int64_t records = 0;
    for (int topic = 0; topic < metadata->topic_cnt && found < 64; topic++) {
        const char *name = metadata->topics[topic].topic;
        if (strncmp(name, prefix, strlen(prefix))) continue;
        topics[found++] = rd_kafka_DeleteTopic_new(name);
        for (int partition = 0; !removes && partition < metadata->topics[topic].partition_cnt; partition++) {
            int64_t low = 0, high = 0;
            rd_kafka_query_watermark_offsets(handle, name, partition, &low, &high, 10000);
            records += high;
        }
    }
    if (removes && found > 0) {
        rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
        rd_kafka_DeleteTopics(handle, topics, found, NULL, queue);
        if (!rd_kafka_queue_poll(queue, 20000)) fail("removing topics", "no answer");
    }
    if (!removes) printf("%lld\n", (long long)records);
}

int main(int count, char **arguments) {
    if (count == 7 && !strcmp(arguments[1], "round-trips") && (partitions = atoi(arguments[4])) > 0) {
        measure(arguments[2], arguments[3], atoi(arguments[5]), atof(arguments[6]));
    } else if (count == 4 && !strcmp(arguments[1], "records")) {
        count_or_remove(arguments[2], arguments[3], 0);
    } else if (count == 4 && !strcmp(arguments[1], "remove") && *arguments[3]) {
        count_or_remove(arguments[2], arguments[3], 1);
    } else {
        fprintf(stderr, "limit-kafka round-trips SERVERS PREFIX PARTITIONS SLOTS SECONDS | records SERVERS PREFIX | remove SERVERS PREFIX\n");
        return 2;
    }
    return 0;
}
