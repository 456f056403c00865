// The subcommands of `runnel`. Each adds itself to the program's parser with what it does when chosen; errors
// are thrown: CLI::Error for wrong use (status 2), runnel::Error for what failed (status 1).
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace runnel {

void add_checkpoint_command(CLI::App& program);
void add_run_command(CLI::App& program);
void add_graph_command(CLI::App& program);
void add_ops_command(CLI::App& program);

}  // namespace runnel
