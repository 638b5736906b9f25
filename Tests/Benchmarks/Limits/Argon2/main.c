// The limit of everything that takes a password: argon2id hashes that this machine makes, on as many threads as it has
// processors, with nothing else to do. `limit-argon2 MEMORY PASSES SECONDS`; memory in KiB.
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measurement.h"

static unsigned long long passes;
static size_t memory;
static int64_t end;

static void *work(void *count) {
    unsigned char hash[32], salt[crypto_pwhash_SALTBYTES] = {1};
    const char *password = "Correct-Horse-7";
    while (microseconds_now() < end) {
        if (crypto_pwhash(hash, sizeof hash, password, strlen(password), salt, passes, memory, crypto_pwhash_ALG_ARGON2ID13) != 0)
            exit(1);
        ++*(long *)count;
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 4 || sodium_init() < 0) return 1;
    memory = (size_t)atol(arguments[1]) * 1024;
    passes = (unsigned long long)atol(arguments[2]);
    int threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t *handles = calloc((size_t)threads, sizeof *handles);
    long *hashes = calloc((size_t)threads, sizeof *hashes);
    int64_t start = microseconds_now();
    end = start + (int64_t)(atof(arguments[3]) * 1e6);
    for (int index = 0; index < threads; index++) pthread_create(&handles[index], NULL, work, &hashes[index]);
    long total = 0;
    for (int index = 0; index < threads; index++) {
        pthread_join(handles[index], NULL);
        total += hashes[index];
    }
    double seconds = (double)(microseconds_now() - start) / 1e6;
    int64_t each = total ? (int64_t)(seconds * threads / (double)total * 1e6) : 0;
    printf("{\"count\":%ld,\"seconds\":%f,\"p50\":%lld,\"p99\":%lld}\n", total, seconds, (long long)each, (long long)each);
    return 0;
}
