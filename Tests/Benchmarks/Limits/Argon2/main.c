// The limit of everything that takes a password: argon2id hashes that this machine makes, on as many threads as it has
// processors, with nothing else to do. `limit-argon2 MEMORY PASSES SECONDS [kept]`; memory in KiB. `kept`: as Identity makes them, in
// memory that lasts from one to the next; otherwise as libsodium does by itself.
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "CLentMemory.h"
#include "measurement.h"

static unsigned long long passes;
static size_t memory;
static int64_t end;
static bool is_kept;

static void *work(void *count) {
    unsigned char hash[32], salt[crypto_pwhash_SALTBYTES] = {1};
    const char *password = "Correct-Horse-7";
    void *kept = is_kept ? latchkey_memory_new(memory) : NULL;
    if (is_kept && !kept) exit(1);
    while (microseconds_now() < end) {
        if (kept) latchkey_memory_lend(kept, memory);
        if (crypto_pwhash(hash, sizeof hash, password, strlen(password), salt, passes, memory, crypto_pwhash_ALG_ARGON2ID13) != 0)
            exit(1);
        if (kept && !latchkey_memory_take_back()) exit(2);
        ++*(long *)count;
    }
    return NULL;
}

int main(int count, char **arguments) {
    is_kept = count == 5 && strcmp(arguments[4], "kept") == 0;
    if ((count != 4 && !is_kept) || sodium_init() < 0) return 1;
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
