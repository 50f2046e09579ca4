#include "gpu-devices.h"

#include <array>
#include <cstring>
#include <exception>
#include <set>
#include <string_view>

#include "patch.h"

namespace dormouse {

namespace {

constexpr std::size_t kMostDevices = 64;
/// Pointers to GpuDevices::Device, which is private: the wrappers know what they are.
std::array<std::atomic<void*>, kMostDevices> known_devices{};

/// Cuts `prefix` off the front of `text`. False: it is not there.
bool skip(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::optional<std::uint32_t> expert_layer(const char* tensor_name) {
    std::string_view name(tensor_name);
    if (!skip(name, "blk.")) return std::nullopt;
    std::uint32_t layer = 0;
    std::size_t digits = 0;
    for (; digits < name.size() && digits < 6 && name[digits] >= '0' && name[digits] <= '9'; ++digits)
        layer = layer * 10 + static_cast<std::uint32_t>(name[digits] - '0');
    if (digits == 0) return std::nullopt;
    name.remove_prefix(digits);
    if (!skip(name, ".ffn_")) return std::nullopt;
    // The longer name first: "gate" is the beginning of "gate_up".
    if (!skip(name, "gate_up_") && !skip(name, "gate_") && !skip(name, "up_") && !skip(name, "down_"))
        return std::nullopt;
    if (!skip(name, "exps.") && !skip(name, "chexps.")) return std::nullopt;
    return layer;
}

/// The functions that ggml finds in a graphics device's table instead of its own.
struct GpuWrappers {
    using Device = GpuDevices::Device;

    static Device& of(ggml_backend_dev_t device) {
        for (const auto& slot : known_devices) {
            auto* const known = static_cast<Device*>(slot.load(std::memory_order_acquire));
            if (known != nullptr && known->device == device) return *known;
        }
        // Only announced devices are patched.
        std::terminate();
    }

    static bool announce(Device* device) {
        for (auto& slot : known_devices) {
            void* empty = nullptr;
            if (slot.compare_exchange_strong(empty, device, std::memory_order_acq_rel)) return true;
        }
        return false;
    }

    static bool supports_op(ggml_backend_dev_t device, const ggml_tensor* op) {
        Device& known = of(device);
        return !known.owner->keeps_in_ram(known, op) && known.supports_op(device, op);
    }

    /// llama.cpp takes integrated devices only where there is no other one: so all but the chosen one are integrated.
    static enum ggml_backend_dev_type get_type(ggml_backend_dev_t device) {
        Device& known = of(device);
        if (!known.owner->one_chosen_.load(std::memory_order_acquire)) return known.get_type(device);
        return known.used.load(std::memory_order_acquire) ? GGML_BACKEND_DEVICE_TYPE_GPU
                                                          : GGML_BACKEND_DEVICE_TYPE_IGPU;
    }
};

GpuDevices::GpuDevices(const std::vector<ggml_backend_dev_t>& devices, decltype(&ggml_nbytes) tensor_bytes)
    : tensor_bytes_(tensor_bytes) {
    for (const ggml_backend_dev_t device : devices) {
        const enum ggml_backend_dev_type type = device->iface.get_type(device);
        if (type != GGML_BACKEND_DEVICE_TYPE_GPU && type != GGML_BACKEND_DEVICE_TYPE_IGPU) continue;
        auto known = std::make_unique<Device>();
        known->device = device;
        known->supports_op = device->iface.supports_op;
        known->get_type = device->iface.get_type;
        known->shares_memory =
            type == GGML_BACKEND_DEVICE_TYPE_IGPU && device->iface.get_host_buffer_type != nullptr;
        known->owner = this;
        if (GpuWrappers::announce(known.get())) devices_.push_back(std::move(known));
    }
}

bool GpuDevices::plan(std::uint32_t expert_layers, const std::optional<std::string>& device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool found = !device;
    for (const auto& known : devices_) found = found || *device == known->device->iface.get_name(known->device);
    if (!found) return false;
    kept_.clear();
    expert_layers_.store(expert_layers, std::memory_order_release);
    for (const auto& known : devices_)
        known->used.store(!device || *device == known->device->iface.get_name(known->device));
    one_chosen_.store(device && devices_.size() > 1, std::memory_order_release);
    for (const auto& known : devices_) {
        patch(known->device->iface.supports_op, &GpuWrappers::supports_op);
        patch(known->device->iface.get_type, &GpuWrappers::get_type);
    }
    return true;
}

void GpuDevices::uninstall() {
    const std::lock_guard<std::mutex> lock(mutex_);
    expert_layers_.store(0, std::memory_order_release);
    one_chosen_.store(false, std::memory_order_release);
    for (const auto& known : devices_) {
        known->used.store(true);
        patch(known->device->iface.supports_op, known->supports_op);
        patch(known->device->iface.get_type, known->get_type);
    }
}

bool GpuDevices::keeps_in_ram(const Device& device, const ggml_tensor* op) {
    const std::uint32_t layers = expert_layers_.load(std::memory_order_acquire);
    if (layers == 0 || device.shares_memory) return false;
    if (op->op != GGML_OP_MUL_MAT_ID && op->op != GGML_OP_ADD_ID) return false;
    for (const ggml_tensor* source : op->src) {
        // In use, or asked for another memory than the device's own: for a host buffer that it can read, for instance.
        if (source == nullptr || source->buffer == nullptr || source->buffer->size != 0) continue;
        if (source->buffer->buft != device.device->iface.get_buffer_type(device.device)) continue;
        const auto layer = expert_layer(source->name);
        if (!layer || *layer >= layers) continue;
        note(source, *layer);
        return true;
    }
    return false;
}

void GpuDevices::note(const ggml_tensor* weight, std::uint32_t layer) {
    // No exception may cross ggml's C frames; a figure that is missing is no reason to fail a load.
    try {
        const std::lock_guard<std::mutex> lock(mutex_);
        kept_[weight->name] = {layer, tensor_bytes_(weight)};
    } catch (const std::exception&) {
    }
}

std::vector<GpuFacts> GpuDevices::facts() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<GpuFacts> all;
    for (const auto& known : devices_) {
        const ggml_backend_dev_t device = known->device;
        GpuFacts one;
        one.name = device->iface.get_name(device);
        one.description = device->iface.get_description(device);
        one.integrated = known->get_type(device) == GGML_BACKEND_DEVICE_TYPE_IGPU;
        one.shares_memory = known->shares_memory;
        device->iface.get_memory(device, &one.free_bytes, &one.total_bytes);
        one.used = known->used.load();
        all.push_back(std::move(one));
    }
    return all;
}

KeptExperts GpuDevices::kept() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    KeptExperts sum;
    std::set<std::uint32_t> layers;
    for (const auto& [name, kept] : kept_) {
        ++sum.tensors;
        sum.bytes += kept.bytes;
        layers.insert(kept.layer);
    }
    sum.layers = static_cast<std::uint32_t>(layers.size());
    return sum;
}

}  // namespace dormouse
