#include "CPhoneNumber.h"

#include <cstring>
#include <phonenumbers/logger.h>
#include <phonenumbers/phonenumber.pb.h>
#include <phonenumbers/phonenumberutil.h>
#include <set>
#include <string>

using i18n::phonenumbers::NullLogger;
using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

/// The one instance, which may be used from any thread. It logs what it cannot parse; where to differs between builds of the
/// library, and what people enter must not be printed anywhere: silence comes before the first call.
static const PhoneNumberUtil &silent_util() {
    static PhoneNumberUtil *const util = [] {
        PhoneNumberUtil *instance = PhoneNumberUtil::GetInstance();
        instance->SetLogger(new NullLogger());
        return instance;
    }();
    return *util;
}

// No exception may cross into Swift; the only ones to expect are those of lacking memory.

size_t latchkey_phone_e164(const char *text, size_t length, const char *region, char *buffer, size_t capacity) {
    try {
        const PhoneNumberUtil &util = silent_util();
        PhoneNumber number;
        if (util.Parse(std::string(text, length), region, &number) != PhoneNumberUtil::NO_PARSING_ERROR) return 0;
        if (!util.IsValidNumber(number)) return 0;
        std::string formatted;
        util.Format(number, PhoneNumberUtil::E164, &formatted);
        if (formatted.size() > capacity) return 0;
        std::memcpy(buffer, formatted.data(), formatted.size());
        return formatted.size();
    } catch (...) {
        return 0;
    }
}

bool latchkey_phone_region_is_known(const char *region) {
    try {
        std::set<std::string> regions;
        silent_util().GetSupportedRegions(&regions);
        return regions.count(region) != 0;
    } catch (...) {
        return false;
    }
}
