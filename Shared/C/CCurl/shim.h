#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic and cannot be called from Swift.

static inline CURLcode latchkey_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

/// Strings are copied by libcurl; lists, contexts and NULL are not.
static inline CURLcode latchkey_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*latchkey_curl_transfer)(char *buffer, size_t size, size_t count, void *context);
typedef int (*latchkey_curl_trace)(CURL *handle, curl_infotype type, char *data, size_t size, void *context);

static inline CURLcode latchkey_curl_set_reader(CURL *handle, latchkey_curl_transfer reader, void *context) {
    curl_easy_setopt(handle, CURLOPT_READDATA, context);
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, reader);
}

/// Told of the answer's body and of each of its header lines.
static inline void latchkey_curl_set_writer(
    CURL *handle, latchkey_curl_transfer body, latchkey_curl_transfer header, void *context) {
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
}

/// Told of every command that is sent and every line that is received, and of much else.
static inline CURLcode latchkey_curl_set_trace(CURL *handle, latchkey_curl_trace trace, void *context) {
    curl_easy_setopt(handle, CURLOPT_DEBUGDATA, context);
    curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, trace);
    return curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L);
}

static inline CURLcode latchkey_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode latchkey_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
