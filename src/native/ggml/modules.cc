#include "modules.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
// After windows.h.
#include <psapi.h>
#elif defined(__APPLE__)
#include <dlfcn.h>
#include <mach-o/dyld.h>
#else
#include <dlfcn.h>
#include <link.h>
#endif

namespace dormouse {

std::string Module::name() const {
    const std::size_t slash = path.find_last_of("/\\");
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

#if defined(_WIN32)

namespace {

std::string to_utf8(const wchar_t* text) {
    const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
    if (size <= 1) return {};
    std::string result(static_cast<std::size_t>(size), '\0');
    WideCharToMultiByte(CP_UTF8, 0, text, -1, result.data(), size, nullptr, nullptr);
    result.pop_back();
    return result;
}

std::wstring to_utf16(const std::string& text) {
    const int size = MultiByteToWideChar(CP_UTF8, 0, text.c_str(), -1, nullptr, 0);
    if (size <= 1) return {};
    std::wstring result(static_cast<std::size_t>(size), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, text.c_str(), -1, result.data(), size);
    result.pop_back();
    return result;
}

}  // namespace

std::vector<Module> loaded_modules() {
    std::vector<HMODULE> handles(1024);
    DWORD needed = 0;
    const auto bytes = static_cast<DWORD>(handles.size() * sizeof(HMODULE));
    if (!K32EnumProcessModules(GetCurrentProcess(), handles.data(), bytes, &needed)) return {};
    handles.resize(needed / sizeof(HMODULE) < handles.size() ? needed / sizeof(HMODULE) : handles.size());
    std::vector<Module> modules;
    for (const HMODULE handle : handles) {
        wchar_t path[MAX_PATH * 4];
        const DWORD length = GetModuleFileNameW(handle, path, MAX_PATH * 4);
        if (length > 0 && length < MAX_PATH * 4) modules.push_back({to_utf8(path)});
    }
    return modules;
}

void* find_symbol(const Module& module, const char* symbol) {
    HMODULE handle = nullptr;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, to_utf16(module.path).c_str(), &handle)) return nullptr;
    return reinterpret_cast<void*>(GetProcAddress(handle, symbol));
}

void stay_loaded() {
    HMODULE handle = nullptr;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                       reinterpret_cast<LPCWSTR>(&stay_loaded), &handle);
}

#else

std::vector<Module> loaded_modules() {
    std::vector<Module> modules;
#if defined(__APPLE__)
    for (std::uint32_t index = 0; index < _dyld_image_count(); ++index) {
        if (const char* path = _dyld_get_image_name(index)) modules.push_back({path});
    }
#else
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
                static_cast<std::vector<Module>*>(list)->push_back({info->dlpi_name});
            }
            return 0;
        },
        &modules);
#endif
    return modules;
}

namespace {

void* open_again(const char* path) {
    // NODELETE: found functions are kept in tables that outlive whoever loaded the library.
    return dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

void* find_symbol(const Module& module, const char* symbol) {
    void* const handle = open_again(module.path.c_str());
    if (handle == nullptr) return nullptr;
    void* const address = dlsym(handle, symbol);
    dlclose(handle);
    return address;
}

void stay_loaded() {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&stay_loaded), &info) == 0 || info.dli_fname == nullptr) return;
    if (void* const handle = open_again(info.dli_fname)) dlclose(handle);
}

#endif

}  // namespace dormouse
