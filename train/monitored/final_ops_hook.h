// Runs something once at the normal end of a session and keeps what it gave: the values of metrics, say.
// Source: tf.train.FinalOpsHook (behaviours 15).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/monitored/hook.h"

namespace runnel {

// With a name it can be asked for by name.
struct FinalOp {
  FinalOp(Fetch fetch) : fetch(fetch) {}
  FinalOp(Output output) : fetch(output) {}
  FinalOp(Operation operation) : fetch(operation) {}
  FinalOp(std::string name, Fetch fetch) : name(std::move(name)), fetch(fetch) {}
  std::string name = "";
  Fetch fetch;
};

class FinalOpsHook final : public SessionRunHook {
 public:
  explicit FinalOpsHook(std::vector<FinalOp> final_ops, std::vector<Feed> final_ops_feed_dict = {});

  std::string name() const override { return "FinalOpsHook"; }
  void begin(Graph& graph) override;
  void end(Session& session) override;

  // In the order of the ops; empty before the end.
  const std::vector<Tensor>& final_ops_values() const { return values_; }
  // Throws NotFound if no op has that name, FailedPrecondition before the end.
  const Tensor& final_ops_value(std::string_view name) const;

 private:
  std::vector<FinalOp> final_ops_;
  std::vector<Feed> feeds_;
  std::vector<Tensor> values_;
};

// To read the values, make a std::shared_ptr<FinalOpsHook> instead and give that.
Hook final_ops(std::vector<FinalOp> final_ops, std::vector<Feed> final_ops_feed_dict = {});

}  // namespace runnel
