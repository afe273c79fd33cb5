#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many files and connections a process may have open.
enum FileLimit {
  /// Two connections for each peer that a hub's table of sessions holds, and some more; macOS takes no higher number.
  private static let wanted: rlim_t = 10_240

  /// Takes what the machine allows anyway: the usual limit is for programs that use `select`, and is a hub with some
  /// hundred peers.
  static func raise() {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    var limits = rlimit()
    guard getrlimit(resource, &limits) == 0, limits.rlim_cur < wanted else { return }
    limits.rlim_cur = min(wanted, limits.rlim_max)
    // Where the system does not take it (macOS has a limit of its own) the old one stays.
    setrlimit(resource, &limits)
  }
}
