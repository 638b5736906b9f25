#pragma once
#include <stdint.h>

// What the limits have in common: slots, each with one round trip under way, and how long round trips took.

struct measurement;

// Slots are numbered from 0.
struct measurement *measurement_new(int slots, double seconds);
// A round trip begins.
void measurement_begin(struct measurement *measurement, int slot);
// A round trip has ended. Returns whether the slot shall begin another one.
int measurement_end(struct measurement *measurement, int slot);
// Whether every slot has ended.
int measurement_is_over(const struct measurement *measurement);
// One JSON object on the standard output.
void measurement_print(struct measurement *measurement);

int64_t microseconds_now(void);
