// Starting a thread, where the machine may refuse one (a limit on processes, no memory for a stack). What is
// thrown is of the library's own family, and says what the thread was for.
#pragma once

#include <functional>
#include <string_view>
#include <thread>

namespace runnel {

// Throws ResourceExhausted if no thread can be had. Requires: body does not throw.
std::thread start_thread(std::string_view purpose, std::function<void()> body);

}  // namespace runnel
