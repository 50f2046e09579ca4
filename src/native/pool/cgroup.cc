#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "topology.h"

namespace dormouse {

namespace {

void keep_smaller(std::optional<double>& smallest, std::optional<double> value) {
    if (value && (!smallest || *value < *smallest)) smallest = value;
}

std::optional<double> ratio_of(double quota, double period) {
    // Version 1 says -1 for "no limit".
    if (quota <= 0 || period <= 0) return std::nullopt;
    return quota / period;
}

/// Version 2: `cpu.max` holds "max 100000" or "150000 100000".
std::optional<double> quota_v2(const MachineReader& reader, const std::string& folder) {
    const auto text = reader.read_file(folder + "/cpu.max");
    if (!text) return std::nullopt;
    std::istringstream stream(*text);
    double quota = 0;
    double period = 0;
    if (!(stream >> quota >> period)) return std::nullopt;
    return ratio_of(quota, period);
}

std::optional<double> quota_v1(const MachineReader& reader, const std::string& folder) {
    const auto quota = reader.read_file(folder + "/cpu.cfs_quota_us");
    const auto period = reader.read_file(folder + "/cpu.cfs_period_us");
    if (!quota || !period) return std::nullopt;
    return ratio_of(std::strtod(quota->c_str(), nullptr), std::strtod(period->c_str(), nullptr));
}

/// The group's folder and all above it: a parent's limit binds its children. Inside a container the path may be the
/// outer system's and not exist here; then only the root is left, which is the container's own group.
template <class Read>
void walk(std::optional<double>& smallest, const std::string& mount, std::string path, Read&& read) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    for (;;) {
        keep_smaller(smallest, read(mount + path));
        if (path.empty()) return;
        const auto slash = path.rfind('/');
        path.resize(slash == std::string::npos ? 0 : slash);
    }
}

bool lists_cpu(const std::string& controllers) {
    std::istringstream stream(controllers);
    for (std::string name; std::getline(stream, name, ',');) {
        if (name == "cpu") return true;
    }
    return false;
}

}  // namespace

std::optional<double> read_cgroup_quota(const MachineReader& reader) {
    const auto groups = reader.read_file("/proc/self/cgroup");
    if (!groups) return std::nullopt;
    std::optional<double> smallest;
    std::istringstream stream(*groups);
    for (std::string line; std::getline(stream, line);) {
        // "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1; both can be there.
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        const auto v1 = [&](const std::string& folder) { return quota_v1(reader, folder); };
        const auto v2 = [&](const std::string& folder) { return quota_v2(reader, folder); };
        if (controllers.empty()) {
            walk(smallest, "/sys/fs/cgroup", path, v2);
            walk(smallest, "/sys/fs/cgroup/unified", path, v2);
        } else if (lists_cpu(controllers)) {
            walk(smallest, "/sys/fs/cgroup/cpu", path, v1);
            walk(smallest, "/sys/fs/cgroup/" + controllers, path, v1);
        }
    }
    return smallest;
}

}  // namespace dormouse
