// The list of hosts of this process.
#include "mindtorch/record/host.h"

#include <algorithm>
#include <mutex>

namespace mindtorch::record {
namespace {

struct HostList {
  std::mutex mutex;
  std::vector<Host*> hosts;
};

HostList& list() {
  static HostList& it = *new HostList;  // never destroyed: hosts of other libraries may unregister late
  return it;
}

}  // namespace

void register_host(Host* host) {
  std::lock_guard lock(list().mutex);
  std::vector<Host*>& hosts = list().hosts;
  if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
}

void unregister_host(Host* host) {
  std::lock_guard lock(list().mutex);
  std::erase(list().hosts, host);
}

std::vector<Host*> hosts() {
  std::lock_guard lock(list().mutex);
  return list().hosts;
}

}  // namespace mindtorch::record
