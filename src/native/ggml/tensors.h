#pragma once

#include "headers.h"

namespace dormouse {

/// In host memory, in the plain layout.
inline bool is_host(const ggml_tensor* tensor) {
    const ggml_backend_buffer_t buffer = tensor->view_src != nullptr ? tensor->view_src->buffer : tensor->buffer;
    if (buffer == nullptr || tensor->data == nullptr) return false;
    const auto is_host = buffer->buft->iface.is_host;
    return is_host != nullptr && is_host(buffer->buft);
}

/// A weight of a model in host memory, as opposed to a part of the KV cache or a computed matrix.
inline bool is_host_weight(const ggml_tensor* tensor) {
    return tensor->view_src == nullptr && is_host(tensor) && tensor->buffer->usage == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

inline bool is_computed(const ggml_tensor* node) { return (node->flags & GGML_TENSOR_FLAG_COMPUTE) != 0; }

/// Nodes that only describe memory.
inline bool is_empty(const ggml_tensor* node) { return ggml_op_is_empty(node->op); }

/// Floats, each row without gaps.
inline bool is_float_rows(const ggml_tensor* tensor) {
    return tensor->type == GGML_TYPE_F32 && tensor->nb[0] == sizeof(float);
}

}  // namespace dormouse
