// Quoting for the shell: everything between single quotes, a single quote itself as '\''.
#include "train/examples/tensorboard.h"

#include <cstdio>

void print_tensorboard_command(const std::string& logdir) {
  std::string quoted = "'";
  for (const char c : logdir) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  quoted += "'";
  const bool plain =
      logdir.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
      std::string::npos;
  std::printf("Look at it with: tensorboard --logdir %s\n", plain ? logdir.c_str() : quoted.c_str());
}
