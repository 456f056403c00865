// What the values of TensorBoard's plugins have in common: a tensor, and metadata that names the plugin and
// holds the plugin's own message. TensorBoard drops an event without a word when one of its texts is no
// UTF-8, so texts are checked here. Source: formats 8.2. Serialized values of one kind each are made in
// pr_curve.h, hparams.h, custom_scalars.h and mesh.h.
#pragma once

#include <string>

#include "graph/tensor.h"

namespace runnel {
namespace pb {
class Summary;
class Summary_Value;
class TensorProto;
}  // namespace pb

// Appends value{tag, metadata{plugin_data{plugin, content}}} without a tensor. Throws InvalidArgument if the
// tag is no UTF-8.
pb::Summary_Value& add_plugin_value(pb::Summary& summary, const std::string& tag, const std::string& plugin,
                                    const std::string& content);

// The tensor as TensorBoard writes arrays: dtype, shape and the elements' bytes. Requires: a dtype of
// numbers.
void write_content(const Tensor& tensor, pb::TensorProto& proto);

// "float[2,3]", or "no value" for an empty tensor.
std::string kind_of(const Tensor& tensor);

// Throws InvalidArgument if it is more than an event can hold (1 GiB).
std::string serialized(const pb::Summary& summary);

// `text` itself. Throws InvalidArgument with `what` it is if it is no UTF-8.
const std::string& checked_text(const std::string& text, const char* what);

}  // namespace runnel
