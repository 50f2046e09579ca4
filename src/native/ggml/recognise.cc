#include "recognise.h"

#include <algorithm>

#include "tensors.h"

namespace dormouse {

bool can_multiply_experts(const Binding& binding, const ggml_tensor* node) {
    if (node->op != GGML_OP_MUL_MAT_ID || !is_computed(node)) return false;
    const ggml_tensor* weights = node->src[0];
    const ggml_tensor* input = node->src[1];
    const ggml_tensor* ids = node->src[2];
    if (!is_host(weights) || weights->view_src != nullptr || !is_host(input) || !is_host(ids) || !is_host(node))
        return false;
    const ggml_type_traits_cpu* traits = binding.traits(weights->type);
    if (traits->vec_dot == nullptr || binding.traits(traits->vec_dot_type)->from_float == nullptr) return false;
    if (weights->nb[1] != binding.row_size(weights->type, weights->ne[0]) || weights->ne[3] != 1) return false;
    if (!is_float_rows(input) || !is_float_rows(node) || input->ne[3] != 1 || node->ne[3] != 1) return false;
    if (ids->type != GGML_TYPE_I32 || ids->nb[0] != sizeof(std::int32_t) || ids->ne[2] != 1 || ids->ne[3] != 1)
        return false;
    return weights->ne[0] == input->ne[0] && weights->ne[1] == node->ne[0] && ids->ne[0] == node->ne[1] &&
           ids->ne[1] == node->ne[2] && input->ne[2] == ids->ne[1] && input->ne[1] > 0 &&
           ids->ne[0] % input->ne[1] == 0;
}

namespace {

/// Follows one FFN backwards from its down product. Everything it accepts becomes a member; what is left over between
/// the members, and any use of a member from outside, makes it no unit.
class Recogniser {
 public:
    Recogniser(const Binding& binding, const ggml_cgraph* graph, int down)
        : binding_(binding),
          graph_(graph),
          start_(std::max(0, down - kMostSpan)),
          down_(down),
          ids_(node(down)->src[2]) {}

    std::optional<FfnUnit> run() {
        unit_.down.node = down_;
        unit_.down.result = down_;
        add_member(down_);
        follow_down();
        const ggml_tensor* activated = node(down_)->src[1];
        const std::optional<int> root = operand(activated);
        if (!root || *root < kMostLeaves || unit_.input_count == 0) return std::nullopt;
        if (!same_rows() || !contiguous_result(activated) || !closed()) return std::nullopt;
        return unit_;
    }

 private:
    const ggml_tensor* node(int index) const { return graph_->nodes[index]; }

    int index_of(const ggml_tensor* tensor) const {
        for (int index = std::min(graph_->n_nodes - 1, down_ + kMostSpan / 4); index >= start_; --index) {
            if (graph_->nodes[index] == tensor) return index;
        }
        return -1;
    }

    bool is_member(int index) const { return index >= start_ && members_[static_cast<std::size_t>(index - start_)]; }
    void add_member(int index) { members_[static_cast<std::size_t>(index - start_)] = true; }

    /// The tensor with one scale per expert behind GET_ROWS(REPEAT(RESHAPE(scale)), ids), whose nodes become members.
    const ggml_tensor* scale_behind(const ggml_tensor* factor) {
        if (factor == nullptr || factor->op != GGML_OP_GET_ROWS || factor->src[1] != ids_) return nullptr;
        const ggml_tensor* repeat = factor->src[0];
        if (repeat->op != GGML_OP_REPEAT || repeat->src[0]->op != GGML_OP_RESHAPE) return nullptr;
        const ggml_tensor* scale = repeat->src[0]->src[0];
        const std::int64_t experts = node(down_)->src[0]->ne[2];
        if (!is_float_rows(scale) || !is_host(scale) || scale->ne[0] != experts || repeat->ne[0] != 1 ||
            repeat->ne[1] != experts || element_count(scale) != experts) {
            return nullptr;
        }
        const std::array<int, 2> found = {index_of(factor), index_of(repeat)};
        if (std::min(found[0], found[1]) < 0 || !is_computed(factor) || !is_computed(repeat)) return nullptr;
        for (const int index : found) add_member(index);
        return scale;
    }

    static std::int64_t element_count(const ggml_tensor* tensor) {
        return tensor->ne[0] * tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
    }

    const ggml_tensor* bias_of(const ggml_tensor* add) const {
        const ggml_tensor* bias = add->src[1];
        const bool usable = add->src[2] == ids_ && is_float_rows(bias) && is_host(bias) && bias->ne[0] == add->ne[0] &&
                            bias->ne[1] == node(down_)->src[0]->ne[2] && bias->ne[2] == 1 && bias->ne[3] == 1;
        return usable ? bias : nullptr;
    }

    /// Reads the input product whose scaled and biased result `tensor` is, and gives its number.
    std::optional<int> product(const ggml_tensor* tensor) {
        ExpertProduct found;
        found.result = index_of(tensor);
        for (const ggml_tensor* at = tensor;;) {
            const int index = index_of(at);
            if (index < 0 || !is_computed(at)) return std::nullopt;
            if (at->op == GGML_OP_MUL_MAT_ID) {
                if (at->src[2] != ids_ || !can_multiply_experts(binding_, at)) return std::nullopt;
                found.node = index;
                break;
            }
            if (at->op == GGML_OP_ADD_ID && found.bias == nullptr && found.scale == nullptr) {
                found.bias = bias_of(at);
                if (found.bias == nullptr) return std::nullopt;
            } else if (at->op == GGML_OP_MUL && found.scale == nullptr) {
                found.scale = scale_behind(at->src[1]);
                if (found.scale == nullptr) return std::nullopt;
            } else {
                return std::nullopt;
            }
            add_member(index);
            at = at->src[0];
        }
        add_member(found.node);
        for (int known = 0; known < unit_.input_count; ++known) {
            if (unit_.inputs[static_cast<std::size_t>(known)].result == found.result) return known;
        }
        if (unit_.input_count == kMostInputs) return std::nullopt;
        unit_.inputs[static_cast<std::size_t>(unit_.input_count)] = found;
        return unit_.input_count++;
    }

    static bool leads_to_product(const ggml_tensor* tensor) {
        if (tensor->op == GGML_OP_MUL) {
            const ggml_tensor* factor = tensor->src[1];
            return factor->op == GGML_OP_GET_ROWS && factor->src[0]->op == GGML_OP_REPEAT;
        }
        return tensor->op == GGML_OP_MUL_MAT_ID || tensor->op == GGML_OP_ADD_ID;
    }

    std::optional<int> leaf(const ggml_tensor* tensor) {
        const ggml_tensor* whole = tensor;
        if (is_empty(tensor) && tensor->op != GGML_OP_NONE) {
            whole = tensor->src[0];
            const int index = index_of(tensor);
            if (index < 0 || whole == nullptr || !leads_to_product(whole) || tensor->type != GGML_TYPE_F32)
                return std::nullopt;
            if (tensor->nb[0] != whole->nb[0] || tensor->nb[1] != whole->nb[1] || tensor->nb[2] != whole->nb[2])
                return std::nullopt;
            if (tensor->ne[1] != whole->ne[1] || tensor->ne[2] != whole->ne[2] || tensor->ne[3] != 1)
                return std::nullopt;
            add_member(index);
        }
        const auto* from = static_cast<const char*>(whole->data);
        const auto offset =
            static_cast<std::int64_t>((static_cast<const char*>(tensor->data) - from) / std::ptrdiff_t{sizeof(float)});
        if (offset < 0 || offset + tensor->ne[0] > whole->ne[0]) return std::nullopt;
        const std::optional<int> number = product(whole);
        if (!number) return std::nullopt;
        for (int known = 0; known < unit_.leaf_count; ++known) {
            const ActivationLeaf& other = unit_.leaves[static_cast<std::size_t>(known)];
            if (other.product == *number && other.offset == offset && other.length == tensor->ne[0]) return known;
        }
        if (unit_.leaf_count == kMostLeaves) return std::nullopt;
        unit_.leaves[static_cast<std::size_t>(unit_.leaf_count)] = {*number, offset, tensor->ne[0]};
        return unit_.leaf_count++;
    }

    /// Operations that compute each row of their result from the same rows of their operands.
    static bool is_elementwise(const ggml_tensor* tensor) {
        switch (tensor->op) {
            case GGML_OP_GLU:
            case GGML_OP_UNARY:
            case GGML_OP_CLAMP:
            case GGML_OP_SCALE:
            case GGML_OP_SQR:
            case GGML_OP_MUL: return tensor->type == GGML_TYPE_F32 && is_matrix_of_rows(tensor);
            default: return false;
        }
    }
    static bool is_matrix_of_rows(const ggml_tensor* tensor) { return is_float_rows(tensor) && tensor->ne[3] == 1; }

    std::optional<int> operand(const ggml_tensor* tensor) {
        if (tensor == nullptr) return std::nullopt;
        if (leads_to_product(tensor) || is_empty(tensor)) return leaf(tensor);
        const int index = index_of(tensor);
        if (index < 0 || !is_computed(tensor) || !is_elementwise(tensor)) return std::nullopt;
        for (int known = 0; known < unit_.activation_count; ++known) {
            if (unit_.activations[static_cast<std::size_t>(known)].node == index) return kMostLeaves + known;
        }
        ActivationNode found;
        found.node = index;
        for (int source = 0; source < GGML_MAX_SRC && tensor->src[source] != nullptr; ++source) {
            if (source == 2 || !same_outer(tensor, tensor->src[source])) return std::nullopt;
            const std::optional<int> read = operand(tensor->src[source]);
            if (!read) return std::nullopt;
            found.operands[static_cast<std::size_t>(source)] = *read;
            found.operand_count = source + 1;
        }
        if (found.operand_count == 0 || unit_.activation_count == kMostActivations) return std::nullopt;
        add_member(index);
        unit_.activations[static_cast<std::size_t>(unit_.activation_count)] = found;
        return kMostLeaves + unit_.activation_count++;
    }

    /// No broadcasting: the same slots and tokens, and the same row length unless a GLU halves it.
    static bool same_outer(const ggml_tensor* result, const ggml_tensor* source) {
        const bool lengths = source->ne[0] == result->ne[0] || (result->op == GGML_OP_GLU && result->src[1] == nullptr);
        return lengths && source->ne[1] == result->ne[1] && source->ne[2] == result->ne[2] && source->ne[3] == 1;
    }

    /// Takes scale and bias after the down product in, as long as nobody else reads what is before them.
    void follow_down() {
        for (int at = down_ + 1; at < std::min(graph_->n_nodes, down_ + kMostSpan / 4); ++at) {
            const ggml_tensor* next = node(at);
            if (next->src[0] != node(unit_.down.result) || !is_computed(next) || !used_only(unit_.down.result, 1))
                continue;
            if (next->op == GGML_OP_ADD_ID && unit_.down.bias == nullptr) {
                const ggml_tensor* bias = bias_of(next);
                if (bias == nullptr) return;
                unit_.down.bias = bias;
            } else if (next->op == GGML_OP_MUL && unit_.down.scale == nullptr && unit_.down.bias == nullptr) {
                const ggml_tensor* scale = scale_behind(next->src[1]);
                if (scale == nullptr) return;
                unit_.down.scale = scale;
            } else {
                return;
            }
            unit_.down.result = at;
            add_member(at);
        }
    }

    bool used_only(int index, std::int32_t uses) const {
        return ggml_node_get_use_count(graph_, index) == uses && (node(index)->flags & GGML_TENSOR_FLAG_OUTPUT) == 0;
    }

    /// All input products read the same rows, give rows of the same length, and want the same input format.
    bool same_rows() const {
        const ggml_tensor* first = node(unit_.inputs[0].node);
        const ggml_tensor* last = node(unit_.inputs[static_cast<std::size_t>(unit_.input_count - 1)].node);
        return first->src[1] == last->src[1] && first->ne[0] == last->ne[0] &&
               first->src[0]->ne[2] == last->src[0]->ne[2] && first->src[0]->ne[2] == node(down_)->src[0]->ne[2] &&
               binding_.traits(first->src[0]->type)->vec_dot_type == binding_.traits(last->src[0]->type)->vec_dot_type;
    }

    bool contiguous_result(const ggml_tensor* activated) const {
        return activated->ne[1] == ids_->ne[0] && is_float_rows(node(unit_.down.result));
    }

    /// Only members (and nodes that compute nothing) lie between the first and the last, and only members read members.
    bool closed() {
        unit_.last = unit_.down.result;
        for (unit_.first = start_; !is_member(unit_.first);) ++unit_.first;
        for (int index = unit_.first; index <= unit_.last; ++index) {
            if (!is_member(index)) {
                if (!is_empty(node(index)) && is_computed(node(index))) return false;
                continue;
            }
            if (index == unit_.last) continue;
            if (!used_only(index, uses_inside(node(index)))) return false;
        }
        return is_member(unit_.last) && !reads_members(node(unit_.inputs[0].node)->src[1]) && !reads_members(ids_);
    }

    std::int32_t uses_inside(const ggml_tensor* tensor) const {
        std::int32_t uses = 0;
        for (int index = unit_.first; index <= unit_.last; ++index) {
            if (!is_member(index)) continue;
            for (const ggml_tensor* source : node(index)->src) uses += source == tensor ? 1 : 0;
        }
        return uses;
    }

    bool reads_members(const ggml_tensor* tensor) const {
        const int index = index_of(tensor);
        return index >= 0 && (is_member(index) || (index > unit_.first && !is_empty(tensor)));
    }

    const Binding& binding_;
    const ggml_cgraph* graph_;
    const int start_;
    const int down_;
    const ggml_tensor* ids_;
    std::array<bool, kMostSpan + kMostSpan / 4 + 1> members_{};
    FfnUnit unit_;
};

}  // namespace

std::optional<FfnUnit> recognise_ffn(const Binding& binding, const ggml_cgraph* graph, int down) {
    if (!can_multiply_experts(binding, graph->nodes[down])) return std::nullopt;
    return Recogniser(binding, graph, down).run();
}

}  // namespace dormouse
