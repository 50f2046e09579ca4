#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse {

/// Where the facts come from; tests put their own machines here.
struct MachineReader {
    /// Whole content of a file, or nothing.
    std::function<std::optional<std::string>(const std::string& path)> read_file;
    /// Logical cores that the calling process may run on, ascending.
    std::function<std::vector<std::uint32_t>()> affinity_mask;
};

/// Reads this machine.
MachineReader this_machine();

struct Core {
    /// Logical core: the first of its physical core that the mask allows.
    std::uint32_t cpu;
    /// False for efficiency cores of hybrid processors.
    bool performance;
};

struct Topology {
    std::vector<std::uint32_t> allowed_cpus;
    /// Physical cores within the mask, performance cores first; hyperthreads are not counted.
    std::vector<Core> cores;
    /// CPU time that the control group grants, in cores; nothing when unlimited.
    std::optional<double> quota;
};

/// Never fails: what cannot be read is taken as unlimited, separate and fast.
Topology read_topology(const MachineReader& reader);

/// min(physical cores in the mask, whole cores of the quota), at least 1.
std::uint32_t auto_threads(const Topology& topology, bool performance_only);

/// `0-3,8` as 0 1 2 3 8; empty when it is no such list.
std::vector<std::uint32_t> parse_cpu_list(const std::string& text);

/// The smallest quota on the way from the process's own control group (version 1 or 2) to the root.
std::optional<double> read_cgroup_quota(const MachineReader& reader);

}  // namespace dormouse
