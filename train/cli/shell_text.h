// Arguments as a shell must be given them.
#pragma once

#include <string>
#include <string_view>

namespace runnel {

// In single quotes; in $'...', which bash, zsh and ksh know, if there are bytes that a terminal would act
// upon.
std::string quoted_for_shell(std::string_view text);

}  // namespace runnel
