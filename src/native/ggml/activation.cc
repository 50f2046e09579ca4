#include "activation.h"

#include <cstring>

namespace dormouse {

namespace {

void shape_as_row(ggml_tensor& tensor, std::int64_t length, float* data) noexcept {
    tensor.type = GGML_TYPE_F32;
    tensor.data = data;
    tensor.ne[0] = length;
    tensor.nb[0] = sizeof(float);
    for (int axis = 1; axis < GGML_MAX_DIMS; ++axis) {
        tensor.ne[axis] = 1;
        tensor.nb[axis] = static_cast<std::size_t>(length) * sizeof(float);
    }
}

bool is_plain_split_swiglu(const FfnUnit& unit, const ggml_tensor* node) {
    if (unit.activation_count != 1 || node->op != GGML_OP_GLU || node->op_params[0] != GGML_GLU_OP_SWIGLU) return false;
    const ActivationNode& activation = unit.activations[0];
    if (activation.operand_count != 2) return false;
    for (const int operand : activation.operands) {
        if (operand >= kMostLeaves) return false;
    }
    return true;
}

}  // namespace

ActivationLanes::~ActivationLanes() {
    for (const auto& lane : lanes_) binding_.threadpool_free(lane->threads);
}

void ActivationLanes::reserve(std::uint32_t threads, std::size_t floats) {
    while (lanes_.size() < threads) {
        ggml_threadpool_params params;
        binding_.threadpool_params(&params, 1);
        params.poll = 0;
        auto lane = std::make_unique<Lane>();
        lane->threads = binding_.threadpool_new(&params);
        lanes_.push_back(std::move(lane));
    }
    for (const auto& lane : lanes_) {
        if (lane->memory.size() < floats) lane->memory.resize(floats);
    }
}

ActivationProgram ActivationLanes::program(const FfnUnit& unit, const ggml_cgraph* graph) const {
    const ggml_tensor* first = graph->nodes[unit.activations[0].node];
    return {&unit, graph->nodes, binding_.swiglu != nullptr && is_plain_split_swiglu(unit, first)};
}

const float* ActivationLanes::run(const ActivationProgram& program, const std::array<const float*, 2>& rows,
                                  std::uint32_t thread) noexcept {
    Lane& lane = *lanes_[thread];
    const FfnUnit& unit = *program.unit;
    const auto leaf_data = [&](int index) {
        const ActivationLeaf& leaf = unit.leaves[static_cast<std::size_t>(index)];
        return rows[static_cast<std::size_t>(leaf.product)] + leaf.offset;
    };
    if (program.is_plain_swiglu) {
        const ActivationNode& glu = unit.activations[0];
        const int length = static_cast<int>(unit.leaves[static_cast<std::size_t>(glu.operands[0])].length);
        binding_.swiglu(length, lane.memory.data(), leaf_data(glu.operands[0]), leaf_data(glu.operands[1]));
        return lane.memory.data();
    }
    for (int index = 0; index < unit.leaf_count; ++index) {
        // ggml only reads sources.
        shape_as_row(lane.tensors[static_cast<std::size_t>(index)], unit.leaves[static_cast<std::size_t>(index)].length,
                     const_cast<float*>(leaf_data(index)));
    }
    float* data = lane.memory.data();
    for (int index = 0; index < unit.activation_count; ++index) {
        const ActivationNode& activation = unit.activations[static_cast<std::size_t>(index)];
        const ggml_tensor* original = program.nodes[activation.node];
        ggml_tensor& tensor = lane.tensors[static_cast<std::size_t>(kMostLeaves + index)];
        shape_as_row(tensor, original->ne[0], data);
        tensor.op = original->op;
        tensor.flags = GGML_TENSOR_FLAG_COMPUTE;
        std::memcpy(tensor.op_params, original->op_params, sizeof tensor.op_params);
        for (int source = 0; source < 2; ++source) {
            const auto operand = static_cast<std::size_t>(activation.operands[static_cast<std::size_t>(source)]);
            tensor.src[source] = source < activation.operand_count ? &lane.tensors[operand] : nullptr;
        }
        lane.nodes[static_cast<std::size_t>(index)] = &tensor;
        data += original->ne[0];
    }
    ggml_cgraph graph{};
    graph.n_nodes = unit.activation_count;
    graph.nodes = lane.nodes.data();
    ggml_cplan plan{};
    plan.n_threads = 1;
    plan.threadpool = lane.threads;
    binding_.compute(&graph, &plan);
    return static_cast<const float*>(lane.nodes[static_cast<std::size_t>(unit.activation_count - 1)]->data);
}

}  // namespace dormouse
