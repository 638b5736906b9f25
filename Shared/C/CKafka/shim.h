#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <sys/eventfd.h>

/// A descriptor that librdkafka's queues and other threads write to, so that one poll(2) waits for all of them.
static inline int latchkey_signal_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline void latchkey_signal_raise(int descriptor) { eventfd_write(descriptor, 1); }
static inline void latchkey_signal_clear(int descriptor) {
    eventfd_t ignored;
    eventfd_read(descriptor, &ignored);
}

/// rd_kafka_producev is variadic and cannot be called from Swift. Copies key and value; owns `headers` only on success.
static inline rd_kafka_resp_err_t latchkey_produce(rd_kafka_t *rk, const char *topic, int32_t partition, const void *key,
                                                   size_t key_length, const void *value, size_t value_length,
                                                   rd_kafka_headers_t *headers, void *opaque) {
    return rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, key_length),
                             RD_KAFKA_V_VALUE((void *)value, value_length), RD_KAFKA_V_HEADERS(headers),
                             RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}

/// The message's own callback data, as set when it was produced.
static inline void *latchkey_message_opaque(const rd_kafka_message_t *message) { return message->_private; }

static inline const char *latchkey_message_topic(const rd_kafka_message_t *message) {
    return message->rkt ? rd_kafka_topic_name(message->rkt) : NULL;
}
