import SystemC

/// The limits of the system that a set of processes needs.
enum SpawnLimits {
  /// What a node takes of each limit: its pipes here or its connections at the phone, and its threads. A dozen threads
  /// are its own, and two more are room.
  private static let (filesOfNode, threadsOfNode) = (4, 14)
  /// What this process and the phone need beside that.
  private static let filesOfOwn = 64

  /// Which limit is too low for so many processes: a sentence, or `nil` when none is.
  static func obstacle(to count: Int) -> String? {
    obstacle(to: count, files: FileLimit.present, threads: threads)
  }

  /// As ``obstacle(to:)``, of given limits.
  static func obstacle(to count: Int, files: Int, threads: Int) -> String? {
    let wanted = [
      (Tongue.say(.limitFiles), files, filesOfOwn + filesOfNode * count),
      (Tongue.say(.limitThreads), threads, threadsOfNode * count),
    ]
    guard let (name, limit, need) = wanted.first(where: { $0.1 < $0.2 }) else { return nil }
    return Tongue.say(.limitTooLow, ["name": name, "limit": limit, "count": count, "need": need])
  }

  /// How many threads this user may have; root has no limit.
  private static var threads: Int {
    guard geteuid() != 0 else { return .max }
    var limits = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
    #else
      let resource = RLIMIT_NPROC
    #endif
    return getrlimit(resource, &limits) == 0 ? Int(clamping: limits.rlim_cur) : .max
  }
}
