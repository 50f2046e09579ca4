#include "plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tensors.h"

namespace dormouse {

bool can_multiply_dense(const Binding& binding, const ggml_tensor* node) {
    if (node->op != GGML_OP_MUL_MAT || !is_computed(node) || node->op_params[1] == GGML_HINT_SRC0_IS_HADAMARD)
        return false;
    const ggml_tensor* weights = node->src[0];
    const ggml_tensor* input = node->src[1];
    if (!is_host_weight(weights) || !is_host(input) || !is_host(node)) return false;
    const ggml_type_traits_cpu* traits = binding.traits(weights->type);
    if (traits->vec_dot == nullptr || binding.traits(traits->vec_dot_type)->from_float == nullptr) return false;
    if (weights->nb[1] != binding.row_size(weights->type, weights->ne[0]) || weights->ne[2] != 1 || weights->ne[3] != 1)
        return false;
    if (!is_float_rows(input) || !is_float_rows(node)) return false;
    return input->ne[1] <= kMostDecodeTokens && input->ne[2] == 1 && input->ne[3] == 1;
}

int layer_of(const ggml_tensor* weights) {
    if (std::strncmp(weights->name, "blk.", 4) != 0) return -1;
    char* end = nullptr;
    const long layer = std::strtol(weights->name + 4, &end, 10);
    return end != weights->name + 4 && *end == '.' && layer >= 0 && layer < 4096 ? static_cast<int>(layer) : -1;
}

namespace {

double elements(const ggml_tensor* tensor) {
    return static_cast<double>(tensor->ne[0]) * static_cast<double>(tensor->ne[1]) *
           static_cast<double>(tensor->ne[2]) * static_cast<double>(tensor->ne[3]);
}

/// ggml splits attention over a long KV among its threads, and the parting decides how the result rounds: with the
/// user's number of threads, so that it rounds as it does without us.
bool splits_by_threads(const ggml_tensor* node) {
    return node->op == GGML_OP_FLASH_ATTN_EXT && node->src[1]->ne[1] >= 512;
}

/// A rough number of nanoseconds for one thread.
double cost_of(const ggml_tensor* node) {
    if (is_empty(node) || !is_computed(node)) return 0;
    switch (node->op) {
        case GGML_OP_MUL_MAT:
        case GGML_OP_MUL_MAT_ID: return elements(node) * static_cast<double>(node->src[0]->ne[0]) / 8;
        case GGML_OP_FLASH_ATTN_EXT: return elements(node) * static_cast<double>(node->src[1]->ne[1]) / 4;
        case GGML_OP_GATED_DELTA_NET:
        case GGML_OP_SSM_SCAN:
        case GGML_OP_RWKV_WKV6:
        case GGML_OP_RWKV_WKV7:
        case GGML_OP_GATED_LINEAR_ATTN: return elements(node) * 64;
        default: return elements(node);
    }
}

/// Waking ggml's threads costs some tens of microseconds, and the pool's have to go to sleep for them.
constexpr double kWorthThreads = 250'000;
/// Some time slices of the system.
constexpr double kWorthWaiting = 16'000'000;

/// ggml has a faster path for many tokens with these formats than any row by row product.
bool prefers_ggml(const ggml_tensor* product) {
    if (product->src[2]->ne[1] < 32) return false;
    switch (product->src[0]->type) {
        case GGML_TYPE_IQ1_S:
        case GGML_TYPE_IQ1_M:
        case GGML_TYPE_IQ2_XXS:
        case GGML_TYPE_IQ2_XS:
        case GGML_TYPE_IQ2_S:
        case GGML_TYPE_IQ3_XXS:
        case GGML_TYPE_IQ3_S: return true;
        default: return false;
    }
}

class Planner {
 public:
    Planner(const Binding& binding, const ggml_cgraph* graph, bool fuse) : binding_(binding), graph_(graph) {
        plan_.fused = fuse;
        if (fuse) find_units();
    }

    Plan run() {
        std::size_t next_unit = 0;
        for (int index = 0; index < graph_->n_nodes;) {
            if (next_unit < plan_.units.size() && plan_.units[next_unit].first == index) {
                close_run(index);
                add_unit(static_cast<std::uint32_t>(next_unit));
                index = plan_.units[next_unit++].last + 1;
                run_begin_ = index;
                continue;
            }
            const ggml_tensor* node = graph_->nodes[index];
            const bool dense = can_multiply_dense(binding_, node);
            if (dense || (can_multiply_experts(binding_, node) && !prefers_ggml(node))) {
                close_run(index);
                add_product(dense ? StepKind::dense : StepKind::expert, index);
                run_begin_ = index + 1;
            } else {
                run_cost_ += cost_of(node);
                run_splits_ = run_splits_ || (is_computed(node) && splits_by_threads(node));
                run_nodes_ += !is_empty(node) && is_computed(node) ? 1 : 0;
            }
            ++index;
        }
        close_run(graph_->n_nodes);
        return std::move(plan_);
    }

 private:
    void find_units() {
        int free_from = 0;
        for (int index = 0; index < graph_->n_nodes; ++index) {
            const ggml_tensor* node = graph_->nodes[index];
            if (node->op != GGML_OP_MUL_MAT_ID || node->src[2]->ne[0] * node->src[2]->ne[1] > kMostUnitRows) continue;
            const auto unit = recognise_ffn(binding_, graph_, index);
            if (!unit || unit->first < free_from) continue;
            free_from = unit->last + 1;
            plan_.units.push_back(*unit);
        }
    }

    void close_run(int end) {
        if (run_nodes_ > 0) {
            StepKind kind = StepKind::original_small;
            if (run_cost_ > kWorthThreads || run_splits_) kind = StepKind::original_medium;
            if (run_cost_ > kWorthWaiting) kind = StepKind::original_large;
            plan_.steps.push_back({kind, run_begin_, end, 0});
            plan_.uses_threads = plan_.uses_threads || kind != StepKind::original_small;
            plan_.original_nodes += run_nodes_;
        }
        run_cost_ = 0;
        run_nodes_ = 0;
        run_splits_ = false;
    }

    void add_unit(std::uint32_t number) {
        const FfnUnit& unit = plan_.units[number];
        plan_.steps.push_back({StepKind::unit, unit.first, unit.last + 1, number});
        const ggml_tensor* input = graph_->nodes[unit.inputs[0].node];
        const ggml_tensor* down = graph_->nodes[unit.down.node];
        const auto rows = static_cast<std::size_t>(down->ne[1] * down->ne[2]);
        const auto inner = static_cast<std::size_t>(input->ne[0]);
        need_product(input);
        ScratchNeeds& needs = plan_.needs;
        needs.hidden =
            std::max(needs.hidden, rows * inner * static_cast<std::size_t>(unit.input_count) * sizeof(float));
        needs.converted_hidden = std::max(needs.converted_hidden, rows * converted_bytes(down));
        needs.lane = std::max(needs.lane, inner * static_cast<std::size_t>(unit.activation_count));
        for (int index = unit.first; index <= unit.last; ++index) {
            plan_.pool_nodes += !is_empty(graph_->nodes[index]) && is_computed(graph_->nodes[index]) ? 1 : 0;
        }
        plan_.uses_pool = true;
    }

    void add_product(StepKind kind, int index) {
        plan_.steps.push_back({kind, index, index + 1, 0});
        need_product(graph_->nodes[index]);
        plan_.pool_nodes += 1;
        plan_.uses_pool = true;
    }

    std::size_t converted_bytes(const ggml_tensor* product) const {
        return padded(binding_.row_size(binding_.traits(product->src[0]->type)->vec_dot_type, product->src[0]->ne[0]));
    }
    static std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

    void need_product(const ggml_tensor* product) {
        ScratchNeeds& needs = plan_.needs;
        const auto inputs = static_cast<std::size_t>(product->src[1]->ne[1] * product->src[1]->ne[2]);
        needs.converted_input = std::max(needs.converted_input, inputs * converted_bytes(product));
        needs.rows = std::max(needs.rows, static_cast<std::size_t>(product->ne[1] * product->ne[2]));
        needs.experts = std::max(needs.experts, static_cast<std::size_t>(product->src[0]->ne[2]));
        if (product->op == GGML_OP_MUL_MAT_ID) plan_.layers = std::max(plan_.layers, layer_of(product->src[0]) + 1);
    }

    const Binding& binding_;
    const ggml_cgraph* graph_;
    Plan plan_;
    int run_begin_ = 0;
    double run_cost_ = 0;
    std::uint32_t run_nodes_ = 0;
    bool run_splits_ = false;
};

}  // namespace

Plan make_plan(const Binding& binding, const ggml_cgraph* graph, bool fuse) {
    return Planner(binding, graph, fuse).run();
}

}  // namespace dormouse
