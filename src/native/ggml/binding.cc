#include "binding.h"

#include <cstring>

namespace dormouse {

namespace {

/// The part of a registry library's file name between "ggml" and the release: "" or ".cuda" and the like; nothing for
/// another file. The names are libggml[.VARIANT].vX.Y.Z.so, ggml[.VARIANT].vX.Y.Z.dll, libggml[.VARIANT].vX.Y.Z.dylib.
struct RegistryName {
    std::string variant;
    std::string release;
};

std::optional<RegistryName> parse_registry_name(const std::string& file) {
    std::string rest = file.rfind("lib", 0) == 0 ? file.substr(3) : file;
    if (rest.rfind("ggml.", 0) != 0) return std::nullopt;
    rest = rest.substr(4);
    for (const char* ending : {".so", ".dll", ".dylib"}) {
        const std::size_t length = std::strlen(ending);
        if (rest.size() > length && rest.compare(rest.size() - length, length, ending) == 0) {
            rest.resize(rest.size() - length);
            // The release begins with the first ".v" before a digit; ".vulkan" is none.
            for (std::size_t at = rest.find(".v"); at != std::string::npos; at = rest.find(".v", at + 1)) {
                if (at + 2 >= rest.size() || rest[at + 2] < '0' || rest[at + 2] > '9') continue;
                return RegistryName{at == 0 ? "" : rest.substr(1, at - 1), rest.substr(at + 1)};
            }
            return RegistryName{rest.empty() ? "" : rest.substr(1), ""};
        }
    }
    return std::nullopt;
}

std::string folder_of(const Module& module) { return module.path.substr(0, module.path.size() - module.name().size()); }

/// Collects functions and the names of those that are missing.
class Finder {
 public:
    template <class Function>
    void find(Function& function, const Module& module, const char* symbol) {
        set(function, find_symbol(module, symbol), symbol);
    }
    template <class Function>
    void find(Function& function, ggml_backend_reg_t registry, const char* symbol) {
        set(function, registry->iface.get_proc_address(registry, symbol), symbol);
    }
    const std::string& missing() const { return missing_; }

 private:
    template <class Function>
    void set(Function& function, void* address, const char* symbol) {
        function = reinterpret_cast<Function>(address);
        if (address == nullptr) missing_ += (missing_.empty() ? "" : ", ") + std::string(symbol);
    }
    std::string missing_;
};

BindingFailure wrong_release(const std::string& found) {
    return {"the expert pool was built for llama.cpp " DORMOUSE_LLAMA_RELEASE " (ggml " DORMOUSE_GGML_VERSION
            "), but " +
            found + " is loaded"};
}

std::optional<Module> choose_registry(const std::vector<Module>& modules, const std::optional<std::string>& gpu,
                                      RegistryName& name, BindingFailure& failure) {
    std::optional<Module> chosen;
    for (const Module& module : modules) {
        const auto parsed = parse_registry_name(module.name());
        if (!parsed || (gpu && parsed->variant != *gpu)) continue;
        if (chosen && chosen->path != module.path) {
            failure = {"several llama.cpp builds are loaded, and it was not said which one is in use"};
            return std::nullopt;
        }
        chosen = module;
        name = *parsed;
    }
    if (!chosen)
        failure = {"no llama.cpp" + (gpu && !gpu->empty() ? " for " + *gpu : std::string()) + " is loaded yet"};
    return chosen;
}

/// ggml-base may have been loaded from another variant's folder, as all share its name: then that one is in use.
std::optional<Module> find_base(const std::vector<Module>& modules, const Module& registry) {
    std::optional<Module> any;
    for (const Module& module : modules) {
        const std::string name = module.name();
        if (name.rfind("libggml-base.", 0) != 0 && name.rfind("ggml-base.", 0) != 0) continue;
        if (folder_of(module) == folder_of(registry)) return module;
        any = module;
    }
    return any;
}

std::vector<ggml_backend_dev_t> find_devices(Finder& finder, const Module& registry) {
    decltype(&ggml_backend_dev_count) count = nullptr;
    decltype(&ggml_backend_dev_get) get = nullptr;
    finder.find(count, registry, "ggml_backend_dev_count");
    finder.find(get, registry, "ggml_backend_dev_get");
    std::vector<ggml_backend_dev_t> devices;
    if (count == nullptr || get == nullptr) return devices;
    for (std::size_t index = 0; index < count(); ++index) devices.push_back(get(index));
    return devices;
}

ggml_backend_dev_t find_cpu_device(Finder& finder, const Module& registry) {
    for (const ggml_backend_dev_t device : find_devices(finder, registry)) {
        if (device->iface.get_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU) return device;
    }
    return nullptr;
}

/// Base library of the right version, or why not.
std::variant<Module, BindingFailure> check_base(const std::vector<Module>& modules, const Module& registry) {
    const auto base = find_base(modules, registry);
    if (!base) return BindingFailure{"ggml's base library is not loaded"};
    const auto version = reinterpret_cast<decltype(&ggml_version)>(find_symbol(*base, "ggml_version"));
    if (version == nullptr) return BindingFailure{"llama.cpp lacks ggml_version"};
    if (std::strcmp(version(), DORMOUSE_GGML_VERSION) != 0) return wrong_release(std::string("ggml ") + version());
    return *base;
}

/// The module that contains a function: of several CPU libraries in the process only one belongs to this registry.
std::optional<Module> find_cpu_module(const std::vector<Module>& modules, void* known_function) {
    for (const Module& module : modules) {
        const std::string name = module.name();
        if (name.rfind("libggml-cpu", 0) != 0 && name.rfind("ggml-cpu", 0) != 0) continue;
        if (find_symbol(module, "ggml_backend_cpu_set_n_threads") == known_function) return module;
    }
    return std::nullopt;
}

}  // namespace

std::variant<Module, BindingFailure> find_registry(const std::optional<std::string>& gpu) {
    RegistryName name;
    BindingFailure failure;
    const auto registry = choose_registry(loaded_modules(), gpu, name, failure);
    if (!registry) return failure;
    if (name.release != DORMOUSE_LLAMA_RELEASE)
        return wrong_release(name.release.empty() ? registry->name() : name.release);
    return *registry;
}

std::variant<DeviceBinding, BindingFailure> bind_devices(const Module& registry) {
    const auto checked = check_base(loaded_modules(), registry);
    if (const auto* failure = std::get_if<BindingFailure>(&checked)) return *failure;
    Finder finder;
    DeviceBinding binding;
    binding.devices = find_devices(finder, registry);
    finder.find(binding.tensor_bytes, std::get<Module>(checked), "ggml_nbytes");
    if (!finder.missing().empty()) return BindingFailure{"llama.cpp lacks " + finder.missing()};
    for (const ggml_backend_dev_t device : binding.devices) {
        if (device->reg->api_version != GGML_BACKEND_API_VERSION)
            return wrong_release("another version of ggml's backend interface");
    }
    return binding;
}

std::variant<Binding, BindingFailure> bind_registry(const Module& registry) {
    const std::vector<Module> modules = loaded_modules();
    Finder finder;
    Binding binding;
    binding.registry = registry.name();

    const auto checked = check_base(modules, registry);
    if (const auto* failure = std::get_if<BindingFailure>(&checked)) return *failure;
    const Module* const base = &std::get<Module>(checked);
    finder.find(binding.graph_view, *base, "ggml_graph_view");
    finder.find(binding.row_size, *base, "ggml_row_size");
    finder.find(binding.block_size, *base, "ggml_blck_size");
    finder.find(binding.threadpool_params, *base, "ggml_threadpool_params_init");

    binding.cpu_device = find_cpu_device(finder, registry);
    if (!finder.missing().empty()) return BindingFailure{"llama.cpp lacks " + finder.missing()};
    if (binding.cpu_device == nullptr) return BindingFailure{"llama.cpp has no CPU device"};
    binding.cpu_registry = binding.cpu_device->reg;
    if (binding.cpu_registry->api_version != GGML_BACKEND_API_VERSION ||
        binding.cpu_registry->iface.get_proc_address == nullptr) {
        return wrong_release("another version of ggml's backend interface");
    }

    finder.find(binding.set_n_threads, binding.cpu_registry, "ggml_backend_set_n_threads");
    finder.find(binding.set_threadpool, binding.cpu_registry, "ggml_backend_cpu_set_threadpool");
    finder.find(binding.set_abort_callback, binding.cpu_registry, "ggml_backend_set_abort_callback");
    const auto cpu = find_cpu_module(modules, reinterpret_cast<void*>(binding.set_n_threads));
    if (!cpu) return BindingFailure{"ggml's CPU library was not found among the loaded ones"};
    finder.find(binding.traits, *cpu, "ggml_get_type_traits_cpu");
#if defined(DORMOUSE_TEST_MISSING_SYMBOL)
    finder.find(binding.compute, *cpu, "ggml_graph_compute_of_another_time");
#else
    finder.find(binding.compute, *cpu, "ggml_graph_compute");
#endif
    finder.find(binding.threadpool_new, *cpu, "ggml_threadpool_new");
    finder.find(binding.threadpool_free, *cpu, "ggml_threadpool_free");
    finder.find(binding.threadpool_pause, *cpu, "ggml_threadpool_pause");
    if (!finder.missing().empty()) return BindingFailure{"llama.cpp lacks " + finder.missing()};
    binding.swiglu = reinterpret_cast<decltype(binding.swiglu)>(find_symbol(*cpu, "ggml_vec_swiglu_f32"));
    return binding;
}

}  // namespace dormouse
