#pragma once
#include <stddef.h>

/// The list `passwords` of zxcvbn 4.5.0 (LICENSE.zxcvbn): ASCII in lower case, one a line. It lives as long as the process.
const char *latchkey_listed_passwords(size_t *count);
