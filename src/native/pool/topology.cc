#include "topology.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(_WIN32)
#include "windows-header.h"
#endif

namespace dormouse {

namespace {

std::optional<std::string> read_whole_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

std::vector<std::uint32_t> all_cpus() {
    std::vector<std::uint32_t> cpus(std::max(1U, std::thread::hardware_concurrency()));
    for (std::uint32_t index = 0; index < cpus.size(); ++index) cpus[index] = index;
    return cpus;
}

std::vector<std::uint32_t> read_affinity_mask() {
    std::vector<std::uint32_t> cpus;
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
        }
    }
#elif defined(_WIN32)
    DWORD_PTR process = 0;
    DWORD_PTR system = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) {
        for (std::uint32_t cpu = 0; cpu < 64; ++cpu) {
            if ((process >> cpu) & 1) cpus.push_back(cpu);
        }
    }
#endif
    return cpus.empty() ? all_cpus() : cpus;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t cpu) {
    return std::find(list.begin(), list.end(), cpu) != list.end();
}

#if !defined(__APPLE__) && !defined(_WIN32)
std::string cpu_folder(std::uint32_t cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

/// Logical cores that share `cpu`'s physical core, itself included.
std::vector<std::uint32_t> siblings_of(const MachineReader& reader, std::uint32_t cpu) {
    // The first name is the newer one.
    for (const char* name : {"/topology/core_cpus_list", "/topology/thread_siblings_list"}) {
        const auto text = reader.read_file(cpu_folder(cpu) + name);
        if (!text) continue;
        auto list = parse_cpu_list(*text);
        if (contains(list, cpu)) return list;
    }
    return {cpu};
}

/// Marks efficiency cores. Intel's hybrid processors list them; ARM's have a capacity from 1 to 1024 per core.
void mark_efficiency_cores(const MachineReader& reader, std::vector<Core>& cores) {
    if (const auto text = reader.read_file("/sys/devices/cpu_atom/cpus")) {
        const auto efficient = parse_cpu_list(*text);
        for (Core& core : cores) core.performance = !contains(efficient, core.cpu);
        return;
    }
    std::vector<int> capacities;
    for (const Core& core : cores) {
        const auto text = reader.read_file(cpu_folder(core.cpu) + "/cpu_capacity");
        capacities.push_back(text ? std::atoi(text->c_str()) : 1024);
    }
    if (capacities.empty()) return;
    const int most = *std::max_element(capacities.begin(), capacities.end());
    // Phones and laptops have up to three kinds. The middle one (about three quarters) is worth using.
    for (std::size_t index = 0; index < cores.size(); ++index) {
        cores[index].performance = capacities[index] * 3 >= most * 2;
    }
}

#elif defined(__APPLE__)
// macOS has no pinning, so only the numbers matter: performance cores first, then the rest.
std::vector<Core> apple_cores() {
    const auto number = [](const char* name) {
        int value = 0;
        std::size_t size = sizeof value;
        return sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : 0;
    };
    const int physical = std::max(1, number("hw.physicalcpu"));
    const int fast = number("hw.perflevel0.physicalcpu");
    std::vector<Core> cores;
    for (int index = 0; index < physical; ++index) {
        cores.push_back({static_cast<std::uint32_t>(index), fast == 0 || index < fast});
    }
    return cores;
}
#elif defined(_WIN32)
std::vector<Core> windows_cores(const std::vector<std::uint32_t>& allowed) {
    DWORD size = 0;
    GetLogicalProcessorInformationEx(RelationProcessorCore, nullptr, &size);
    std::vector<char> buffer(size);
    auto* first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(buffer.data());
    std::vector<Core> cores;
    if (size == 0 || !GetLogicalProcessorInformationEx(RelationProcessorCore, first, &size)) return cores;
    BYTE best = 0;
    std::vector<BYTE> classes;
    for (DWORD offset = 0; offset < size;) {
        const auto* info = reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(buffer.data() + offset);
        offset += info->Size;
        const GROUP_AFFINITY& group = info->Processor.GroupMask[0];
        if (group.Group != 0) continue;
        for (std::uint32_t cpu = 0; cpu < 64; ++cpu) {
            if (((group.Mask >> cpu) & 1) == 0 || !contains(allowed, cpu)) continue;
            cores.push_back({cpu, true});
            classes.push_back(info->Processor.EfficiencyClass);
            best = std::max(best, info->Processor.EfficiencyClass);
            break;
        }
    }
    for (std::size_t index = 0; index < cores.size(); ++index) cores[index].performance = classes[index] == best;
    return cores;
}
#endif

}  // namespace

MachineReader this_machine() { return {read_whole_file, read_affinity_mask}; }

std::vector<std::uint32_t> parse_cpu_list(const std::string& text) {
    std::vector<std::uint32_t> cpus;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end && *at != '\n') {
        std::uint32_t first = 0;
        auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc()) return {};
        std::uint32_t last = first;
        at = read.ptr;
        if (at < end && *at == '-') {
            read = std::from_chars(at + 1, end, last);
            if (read.ec != std::errc() || last < first || last - first > 4'096) return {};
            at = read.ptr;
        }
        for (std::uint32_t cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
        if (at < end && *at == ',') {
            ++at;
        } else if (at < end && *at != '\n') {
            return {};
        }
    }
    return cpus;
}

Topology read_topology(const MachineReader& reader) {
    Topology topology;
    topology.allowed_cpus = reader.affinity_mask();
#if defined(__APPLE__)
    topology.cores = apple_cores();
#elif defined(_WIN32)
    topology.cores = windows_cores(topology.allowed_cpus);
#else
    std::vector<std::uint32_t> taken;
    for (const std::uint32_t cpu : topology.allowed_cpus) {
        if (contains(taken, cpu)) continue;
        topology.cores.push_back({cpu, true});
        for (const std::uint32_t sibling : siblings_of(reader, cpu)) taken.push_back(sibling);
    }
    mark_efficiency_cores(reader, topology.cores);
    topology.quota = read_cgroup_quota(reader);
#endif
    if (topology.cores.empty()) {
        for (const std::uint32_t cpu : topology.allowed_cpus) topology.cores.push_back({cpu, true});
    }
    std::stable_partition(topology.cores.begin(), topology.cores.end(),
                          [](const Core& core) { return core.performance; });
    return topology;
}

std::uint32_t auto_threads(const Topology& topology, bool performance_only) {
    std::uint64_t threads = 0;
    for (const Core& core : topology.cores) threads += core.performance || !performance_only ? 1 : 0;
    if (topology.quota) threads = std::min(threads, static_cast<std::uint64_t>(std::floor(*topology.quota)));
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, threads));
}

}  // namespace dormouse
