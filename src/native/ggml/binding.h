#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "headers.h"
#include "modules.h"

namespace dormouse {

/// Functions of one loaded ggml, found by name. None is null.
struct Binding {
    /// File of the registry library, for messages.
    std::string registry;
    ggml_backend_dev_t cpu_device = nullptr;
    ggml_backend_reg_t cpu_registry = nullptr;

    // libggml-base
    decltype(&ggml_graph_view) graph_view = nullptr;
    decltype(&ggml_row_size) row_size = nullptr;
    decltype(&ggml_blck_size) block_size = nullptr;
    decltype(&ggml_threadpool_params_init) threadpool_params = nullptr;
    // libggml-cpu-*
    decltype(&ggml_get_type_traits_cpu) traits = nullptr;
    decltype(&ggml_graph_compute) compute = nullptr;
    decltype(&ggml_threadpool_new) threadpool_new = nullptr;
    decltype(&ggml_threadpool_free) threadpool_free = nullptr;
    decltype(&ggml_threadpool_pause) threadpool_pause = nullptr;
    // through the CPU registry's get_proc_address
    ggml_backend_set_n_threads_t set_n_threads = nullptr;
    void (*set_threadpool)(ggml_backend_t, ggml_threadpool_t) = nullptr;
    ggml_backend_set_abort_callback_t set_abort_callback = nullptr;
    /// SiLU(x) * g over a row. Not part of ggml's interface, so it may be missing (null) without harm.
    void (*swiglu)(int n, float* y, const float* x, const float* g) = nullptr;
};

/// Why nothing can be installed, as a sentence for people.
struct BindingFailure {
    std::string reason;
};

/// The registry library that node-llama-cpp loaded for `gpu`: "" (CPU only), "cuda", "vulkan" or "metal"; nothing when
/// the only one there is shall be taken. Fails unless it is of the release that this was built for.
std::variant<Module, BindingFailure> find_registry(const std::optional<std::string>& gpu);

/// All devices of a registry, of any type, and what gpu-devices.h needs of ggml.
struct DeviceBinding {
    std::vector<ggml_backend_dev_t> devices;
    decltype(&ggml_nbytes) tensor_bytes = nullptr;
};
std::variant<DeviceBinding, BindingFailure> bind_devices(const Module& registry);

/// Looks up every function; all or nothing. Once per registry: later its get_proc_address answers with our wrappers.
std::variant<Binding, BindingFailure> bind_registry(const Module& registry);

}  // namespace dormouse
