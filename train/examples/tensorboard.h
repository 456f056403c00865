// The command that shows a folder of events, ready to be pasted into a shell.
#pragma once

#include <string>

void print_tensorboard_command(const std::string& logdir);
