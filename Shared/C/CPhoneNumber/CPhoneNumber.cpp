#include "CPhoneNumber.h"

#include <cstring>
#include <phonenumbers/phonenumber.pb.h>
#include <phonenumbers/phonenumberutil.h>
#include <string>

size_t latchkey_phone_e164(const char *text, size_t length, const char *region, char *buffer, size_t capacity) {
    using i18n::phonenumbers::PhoneNumber;
    using i18n::phonenumbers::PhoneNumberUtil;
    const PhoneNumberUtil *util = PhoneNumberUtil::GetInstance();
    PhoneNumber number;
    if (util->Parse(std::string(text, length), region, &number) != PhoneNumberUtil::NO_PARSING_ERROR) return 0;
    if (!util->IsValidNumber(number)) return 0;
    std::string formatted;
    util->Format(number, PhoneNumberUtil::E164, &formatted);
    if (formatted.size() > capacity) return 0;
    std::memcpy(buffer, formatted.data(), formatted.size());
    return formatted.size();
}
