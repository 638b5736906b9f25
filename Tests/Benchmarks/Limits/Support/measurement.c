#include "measurement.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { capacity = 1 << 22 };

struct measurement {
    int64_t start, end, last;
    int running, count;
    int64_t *begun;
    uint32_t *durations;
};

int64_t microseconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000ll + time.tv_nsec / 1000;
}

struct measurement *measurement_new(int slots, double seconds) {
    struct measurement *measurement = calloc(1, sizeof *measurement);
    measurement->start = microseconds_now();
    measurement->end = measurement->start + (int64_t)(seconds * 1e6);
    measurement->running = slots;
    measurement->begun = calloc(slots, sizeof *measurement->begun);
    measurement->durations = calloc(capacity, sizeof *measurement->durations);
    return measurement;
}

void measurement_begin(struct measurement *measurement, int slot) { measurement->begun[slot] = microseconds_now(); }

int measurement_end(struct measurement *measurement, int slot) {
    int64_t now = microseconds_now();
    if (now < measurement->end) {
        measurement->last = now;
        if (measurement->count < capacity) measurement->durations[measurement->count++] = (uint32_t)(now - measurement->begun[slot]);
        return 1;
    }
    measurement->running--;
    return 0;
}

int measurement_is_over(const struct measurement *measurement) { return measurement->running == 0; }

static int compare(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

void measurement_print(struct measurement *measurement) {
    int count = measurement->count;
    qsort(measurement->durations, count, sizeof *measurement->durations, compare);
    printf("{\"count\":%d,\"seconds\":%f,\"p50\":%u,\"p99\":%u}\n", count,
           (measurement->last - measurement->start) / 1e6, count ? measurement->durations[count / 2] : 0,
           count ? measurement->durations[(int64_t)count * 99 / 100] : 0);
}
