import SystemC

/// The limit of open files and connections of this process.
enum FileLimit {
  /// Two connections for each peer in a full session table of a hub, and some more. macOS allows no higher number.
  private static let wanted: rlim_t = 10_240

  /// Raises the limit as far as the system allows. The default of 1,024 is meant for programs that use `select`, and
  /// suffices for a few hundred peers only.
  static func raise() {
    guard var limits, limits.rlim_cur < wanted else { return }
    limits.rlim_cur = min(wanted, limits.rlim_max)
    // If the system refuses (macOS has a further limit), the old one stays.
    setrlimit(resource, &limits)
  }

  /// The limit now.
  static var present: Int { limits.map { Int(clamping: $0.rlim_cur) } ?? .max }

  private static var limits: rlimit? {
    var limits = rlimit()
    return getrlimit(resource, &limits) == 0 ? limits : nil
  }

  #if canImport(Glibc)
    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
  #else
    private static var resource: CInt { RLIMIT_NOFILE }
  #endif
}
