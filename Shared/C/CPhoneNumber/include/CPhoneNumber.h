#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Parses `text` as a phone number, with `region` (ISO 3166-1 alpha-2) for numbers without a country code, and writes it
/// as E.164. Returns its length, or 0 when it is no valid number or `capacity` is too small.
size_t latchkey_phone_e164(const char *text, size_t length, const char *region, char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif
