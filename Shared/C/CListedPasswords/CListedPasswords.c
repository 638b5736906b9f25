#include "CListedPasswords.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char passwords[] = {
#embed "passwords.txt"
};

const char *latchkey_listed_passwords(size_t *count) {
    *count = sizeof passwords;
    return passwords;
}
