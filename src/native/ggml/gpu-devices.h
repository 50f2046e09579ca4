#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "headers.h"

namespace dormouse {

/// A graphics device as ggml tells of it now.
struct GpuFacts {
    /// ggml's short name, such as "CUDA0"; unique within a registry.
    std::string name;
    std::string description;
    bool integrated = false;
    /// Keeps its weights in the computer's own memory, so that moving experts there gains nothing.
    bool shares_memory = false;
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    /// Whether models are put on it.
    bool used = false;
};

/// What the wrapper has kept out of graphics memory since the last plan.
struct KeptExperts {
    std::uint32_t tensors = 0;
    std::uint32_t layers = 0;
    std::size_t bytes = 0;
};

/// Layer of an expert tensor (weights, biases, scales, with or without "ch"), from its name; nothing for another tensor.
std::optional<std::uint32_t> expert_layer(const char* tensor_name);

/// The graphics devices of one ggml registry, whose function tables are patched or as they were.
///
/// llama.cpp's loader asks a device whether it supports an operation before it puts a weight there, and takes the CPU's
/// memory if not. That question is answered with no for the experts of the planned layers, and only for it: a tensor that
/// is in use has a real buffer, the loader's question comes with an empty one. Never destroyed, as the tables point here.
class GpuDevices {
 public:
    GpuDevices(const std::vector<ggml_backend_dev_t>& devices, decltype(&ggml_nbytes) tensor_bytes);
    GpuDevices(const GpuDevices&) = delete;
    GpuDevices& operator=(const GpuDevices&) = delete;

    /// From now on a load leaves the experts of layers below `expert_layers` in RAM, and puts the rest on the device
    /// called `device` alone; on all of them if there is no name. False: there is no such device, and nothing changed.
    bool plan(std::uint32_t expert_layers, const std::optional<std::string>& device);
    /// Restores the tables.
    void uninstall();

    std::vector<GpuFacts> facts() const;
    KeptExperts kept() const;

 private:
    friend struct GpuWrappers;
    struct Device {
        ggml_backend_dev_t device;
        decltype(ggml_backend_device_i::supports_op) supports_op;
        decltype(ggml_backend_device_i::get_type) get_type;
        bool shares_memory;
        std::atomic<bool> used{true};
        GpuDevices* owner;
    };
    bool keeps_in_ram(const Device& device, const ggml_tensor* op);
    void note(const ggml_tensor* weight, std::uint32_t layer);

    const decltype(&ggml_nbytes) tensor_bytes_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::atomic<std::uint32_t> expert_layers_{0};
    /// One device of several was chosen.
    std::atomic<bool> one_chosen_{false};
    mutable std::mutex mutex_;
    /// By name: a loader with several devices asks several times.
    struct Kept {
        std::uint32_t layer;
        std::size_t bytes;
    };
    std::map<std::string, Kept> kept_;
};

}  // namespace dormouse
