#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

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

/// A new key of ECDSA with P-256; null for failure.
static inline EVP_PKEY *latchkey_new_p256(void) { return EVP_EC_gen("P-256"); }

/// A new RSA key; null for failure.
static inline EVP_PKEY *latchkey_new_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }

/// A public key out of `parameters`, which are freed. Null for failure.
static inline EVP_PKEY *latchkey_public_key(const char *algorithm, OSSL_PARAM_BLD *builder) {
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, algorithm, NULL);
    EVP_PKEY *key = NULL;
    if (parameters == NULL || context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}

/// The public key of a point of P-256: 4, x and y, 65 bytes. Null when it is none.
static inline EVP_PKEY *latchkey_public_p256(const unsigned char *point) {
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (builder != NULL && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, 65) == 1)
        key = latchkey_public_key("EC", builder);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

/// The public RSA key of a modulus and an exponent, big-endian. Null for failure.
static inline EVP_PKEY *latchkey_public_rsa(
    const unsigned char *modulus, int modulusCount, const unsigned char *exponent, int exponentCount) {
    BIGNUM *n = BN_bin2bn(modulus, modulusCount, NULL);
    BIGNUM *e = BN_bin2bn(exponent, exponentCount, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (n != NULL && e != NULL && builder != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        key = latchkey_public_key("RSA", builder);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}
