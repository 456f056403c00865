// The standard library's error is turned into ours; nothing else happens here.
#include "graph/thread_start.h"

#include <system_error>
#include <utility>

#include "graph/error.h"

namespace runnel {

std::thread start_thread(std::string_view purpose, std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw ResourceExhausted(cat("no thread could be started for ", purpose, ": ", error.code().message(),
                                "; raise the limit on processes (ulimit -u) or end other threads"));
  }
}

}  // namespace runnel
