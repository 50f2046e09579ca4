// The evaluator's products and units on the pool.

#include "evaluator-epoch.h"
#include "tensors.h"

namespace dormouse {

namespace {

/// Less than this the host computes before a worker could have noticed.
constexpr std::uint64_t kWorthPublishing = 24 * 1024;
constexpr std::int64_t kConvertAlone = 4;

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

bool Evaluator::assign_groups(const ggml_tensor* product) {
    if (product->op == GGML_OP_MUL_MAT) {
        epoch_->groups.assign_dense(product->ne[1]);
        return true;
    }
    const ggml_tensor* ids = product->src[2];
    return epoch_->groups.assign(static_cast<const char*>(ids->data), ids->nb[1], ids->ne[0], ids->ne[1],
                                 product->src[0]->ne[2]);
}

void Evaluator::count_hits(const ggml_tensor* weights) {
    const int layer = layer_of(weights);
    if (layer < 0 || static_cast<std::size_t>(layer) >= hits_.size()) return;
    auto& counted = *hits_[static_cast<std::size_t>(layer)];
    for (std::uint32_t index = 0; index < epoch_->groups.size(); ++index) {
        const ExpertGroup& group = epoch_->groups.group(index);
        const auto expert = static_cast<std::size_t>(group.expert);
        if (expert < counted.size()) counted[expert].fetch_add(group.count, std::memory_order_relaxed);
    }
}

bool Evaluator::set_up_convert(ConvertPhase& convert, const ggml_tensor* product) {
    const ggml_tensor* weights = product->src[0];
    const ggml_tensor* input = product->src[1];
    const ggml_type format = binding_.traits(weights->type)->vec_dot_type;
    if (format == GGML_TYPE_F32) return false;
    convert.counters = &shared_.counters;
    convert.from_float = binding_.traits(format)->from_float;
    convert.source = static_cast<const char*>(input->data);
    // A dense product's tokens are rows, an expert product's are planes of rows.
    const bool dense = product->op == GGML_OP_MUL_MAT;
    convert.slots = dense ? 1 : input->ne[1];
    convert.slot_stride = input->nb[1];
    convert.token_stride = dense ? input->nb[1] : input->nb[2];
    convert.columns = weights->ne[0];
    convert.out = epoch_->converted_input.data();
    convert.out_stride = padded(binding_.row_size(format, weights->ne[0]));
    return true;
}

void Evaluator::set_up_weights(DotPart& part, const ggml_tensor* product) const {
    const ggml_tensor* weights = product->src[0];
    part = {};
    part.weights = {binding_.traits(weights->type)->vec_dot,
                    static_cast<const char*>(weights->data),
                    binding_.row_size(weights->type, weights->ne[0]),
                    weights->nb[1],
                    weights->ne[1],
                    static_cast<int>(weights->ne[0])};
    part.expert_stride = weights->nb[2];
}

void Evaluator::set_up_input(DotPart& part, const ggml_tensor* product, bool converted) const {
    const ggml_tensor* input = product->src[1];
    const bool dense = product->op == GGML_OP_MUL_MAT;
    part.inputs_per_token = dense ? 1 : input->ne[1];
    if (converted) {
        part.inputs = epoch_->convert.out;
        part.input_slot_stride = epoch_->convert.out_stride;
        part.input_token_stride = epoch_->convert.out_stride * static_cast<std::size_t>(part.inputs_per_token);
    } else {
        part.inputs = static_cast<const char*>(input->data);
        part.input_slot_stride = input->nb[1];
        part.input_token_stride = dense ? input->nb[1] : input->nb[2];
    }
}

void Evaluator::set_up_output(DotPart& part, const ggml_tensor* result) const {
    part.out = static_cast<char*>(result->data);
    part.out_slot_stride = result->nb[1];
    part.out_token_stride = result->op == GGML_OP_MUL_MAT ? result->nb[1] : result->nb[2];
}

void Evaluator::set_up_corrections(DotPart& part, const ExpertProduct& product) {
    if (product.scale != nullptr) part.scale = static_cast<const float*>(product.scale->data);
    if (product.bias != nullptr) {
        part.bias = static_cast<const char*>(product.bias->data);
        part.bias_stride = product.bias->nb[1];
    }
}

std::uint32_t Evaluator::add_convert(Phase* phases, bool wanted) {
    if (!wanted) return 0;
    ConvertPhase& convert = epoch_->convert;
    // Rows of input: fewer than rows of output when the experts of a token share them.
    const std::int64_t rows = convert.slots * (epoch_->groups.row_count() / epoch_->first.slots);
    if (rows > kConvertAlone) {
        phases[0] = {ConvertPhase::compute, &convert, static_cast<std::uint32_t>(rows)};
        return 1;
    }
    const ScopedWork scope(shared_.counters, Work::convert, 0);
    for (std::int64_t row = 0; row < rows; ++row) convert.convert_row(row);
    return 0;
}

/// The host publishes, works along and waits; very little work it does at once by itself.
ggml_status Evaluator::publish(const Phase* phases, std::uint32_t count, std::uint64_t weight_bytes) {
    if (weight_bytes < kWorthPublishing) {
        for (std::uint32_t index = 0; index < count; ++index) {
            for (std::uint32_t chunk = 0; chunk < phases[index].chunks; ++chunk) {
                phases[index].function(phases[index].context, chunk, 0);
            }
        }
        return GGML_STATUS_SUCCESS;
    }
    switch (pool_->run_phases(phases, count, &shared_.stop)) {
        case RunStatus::completed: return GGML_STATUS_SUCCESS;
        case RunStatus::stopped: return GGML_STATUS_ABORTED;
        case RunStatus::stalled: stalled_pool_ = pool_; return GGML_STATUS_FAILED;
        case RunStatus::nested:
        case RunStatus::too_many_chunks: break;
    }
    return GGML_STATUS_FAILED;
}

ggml_status Evaluator::run_product(const Step& step, ggml_cgraph* graph) {
    ggml_tensor* product = graph->nodes[step.begin];
    // An id that is no expert is for ggml to deal with.
    if (!assign_groups(product)) return run_original(step, graph);
    if (product->op == GGML_OP_MUL_MAT_ID) count_hits(product->src[0]);
    DotPhase& dot = epoch_->first;
    dot.counters = &shared_.counters;
    dot.work = step.kind == StepKind::dense ? Work::dense : Work::expert;
    dot.groups = &epoch_->groups;
    dot.part_count = 1;
    dot.slots = product->op == GGML_OP_MUL_MAT ? 1 : product->src[2]->ne[0];
    dot.rows = product->src[0]->ne[1];
    const bool converted = set_up_convert(epoch_->convert, product);
    set_up_weights(dot.parts[0], product);
    set_up_input(dot.parts[0], product, converted);
    set_up_output(dot.parts[0], product);

    Phase phases[2];
    std::uint32_t count = add_convert(phases, converted);
    phases[count++] = {DotPhase::compute, &dot, dot.plan_chunks(pool_->threads())};
    return publish(phases, count, dot.weight_bytes());
}

ggml_status Evaluator::run_unit(const FfnUnit& unit, ggml_cgraph* graph) {
    ggml_tensor* input = graph->nodes[unit.inputs[0].node];
    ggml_tensor* down = graph->nodes[unit.down.node];
    if (!assign_groups(down)) return run_original({StepKind::original_small, unit.first, unit.last + 1, 0}, graph);
    count_hits(down->src[0]);
    shared_.counters.units.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t slots = down->ne[1];
    const std::int64_t rows = slots * down->ne[2];
    const std::uint32_t threads = pool_->threads();

    DotPhase& first = epoch_->first;
    first.counters = &shared_.counters;
    first.work = Work::gate_up;
    first.groups = &epoch_->groups;
    first.slots = slots;
    first.rows = input->ne[0];
    first.part_count = static_cast<std::uint32_t>(unit.input_count);
    const bool converted = set_up_convert(epoch_->convert, input);
    auto* hidden = reinterpret_cast<float*>(epoch_->hidden.data());
    ActivationPhase& activation = epoch_->activation;
    activation.inputs = {};
    for (std::size_t index = 0; index < first.part_count; ++index) {
        DotPart& part = first.parts[index];
        set_up_weights(part, graph->nodes[unit.inputs[index].node]);
        set_up_input(part, input, converted);
        set_up_corrections(part, unit.inputs[index]);
        activation.inputs[index] = hidden;
        part.out = reinterpret_cast<char*>(hidden);
        part.out_slot_stride = static_cast<std::size_t>(first.rows) * sizeof(float);
        part.out_token_stride = part.out_slot_stride * static_cast<std::size_t>(slots);
        hidden += rows * first.rows;
    }
    set_up_activation(unit, graph, down);
    set_up_down(unit, graph, slots);

    Phase phases[4];
    std::uint32_t count = add_convert(phases, converted);
    phases[count++] = {DotPhase::compute, &first, first.plan_chunks(threads)};
    phases[count++] = {ActivationPhase::compute, &activation, static_cast<std::uint32_t>(rows)};
    phases[count++] = {DotPhase::compute, &epoch_->down, epoch_->down.plan_chunks(threads)};
    return publish(phases, count, first.weight_bytes() + epoch_->down.weight_bytes());
}

void Evaluator::set_up_activation(const FfnUnit& unit, const ggml_cgraph* graph, const ggml_tensor* down) {
    const ggml_type format = binding_.traits(down->src[0]->type)->vec_dot_type;
    ActivationPhase& activation = epoch_->activation;
    activation.counters = &shared_.counters;
    epoch_->program = lanes_.program(unit, graph);
    activation.program = &epoch_->program;
    activation.lanes = &lanes_;
    activation.inner = epoch_->first.rows;
    activation.from_float = binding_.traits(format)->from_float;
    activation.columns = down->src[0]->ne[0];
    activation.out = epoch_->converted_hidden.data();
    activation.out_stride = padded(binding_.row_size(format, down->src[0]->ne[0]));
}

void Evaluator::set_up_down(const FfnUnit& unit, const ggml_cgraph* graph, std::int64_t slots) {
    DotPhase& phase = epoch_->down;
    phase.counters = &shared_.counters;
    phase.work = Work::down;
    phase.groups = &epoch_->groups;
    phase.part_count = 1;
    phase.slots = slots;
    const ggml_tensor* down = graph->nodes[unit.down.node];
    phase.rows = down->src[0]->ne[1];
    DotPart& part = phase.parts[0];
    set_up_weights(part, down);
    part.inputs = epoch_->activation.out;
    part.inputs_per_token = slots;
    part.input_slot_stride = epoch_->activation.out_stride;
    part.input_token_stride = part.input_slot_stride * static_cast<std::size_t>(slots);
    set_up_corrections(part, unit.down);
    set_up_output(part, graph->nodes[unit.down.result]);
}

}  // namespace dormouse
