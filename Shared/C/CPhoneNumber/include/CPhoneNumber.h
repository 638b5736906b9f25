#pragma once
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Parses `text` (UTF-8) as a phone number, with `region` (ISO 3166-1 alpha-2; "ZZ" for none) for numbers without a country
/// code, and writes it as E.164. Returns its length, or 0 when it is no valid number or `capacity` is too small. May be
/// called from any thread; prints nothing.
size_t latchkey_phone_e164(const char *text, size_t length, const char *region, char *buffer, size_t capacity);

/// Whether numbers of `region` (ISO 3166-1 alpha-2, upper case) can be parsed.
bool latchkey_phone_region_is_known(const char *region);

#ifdef __cplusplus
}
#endif
