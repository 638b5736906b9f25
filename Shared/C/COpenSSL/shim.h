#pragma once
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

// OpenSSL's parameter lists are built here: they keep pointers to their names and values, which Swift lends for the time
// of one call only.

/// Keys a context of EVP_MAC "HMAC" for SHA-256. `key` is not null, also where `count` is 0. Returns 1, or 0 for failure.
static inline int latchkey_hmac_sha256_init(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_init(context, key, count, parameters);
}

/// HKDF-SHA256, extract and expand, with a new context of EVP_KDF "HKDF". Returns 1, or another number for failure.
static inline int latchkey_hkdf_sha256(
    EVP_KDF_CTX *context, unsigned char *output, size_t outputCount, const void *secret, size_t secretCount,
    const void *salt, size_t saltCount, const void *info, size_t infoCount) {
    char digest[] = "SHA256";
    // The parameters are only read, although their type is that of parameters that are written.
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secretCount),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, saltCount),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, infoCount),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_derive(context, output, outputCount, parameters);
}
