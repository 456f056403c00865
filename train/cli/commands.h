// The subcommands of `runnel`. Each adds itself to the program's parser with what it does when chosen; errors
// are thrown: CLI::Error for wrong use (status 2), runnel::Error for what failed (status 1).
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace runnel {

void add_checkpoint_command(CLI::App& program);
void add_events_command(CLI::App& program);
void add_inspect_command(CLI::App& program);
void add_run_command(CLI::App& program);
void add_graph_command(CLI::App& program);
void add_ops_command(CLI::App& program);

// What is wrong with an empty argument, for CLI11's checks: it would be taken as none given.
inline std::string not_empty(const std::string& text) { return text.empty() ? "must not be empty" : ""; }

}  // namespace runnel
