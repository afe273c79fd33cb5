#if ZeroMQ
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// The descriptors that this process may have open. libzmq ends the process when it finds none at a wrong moment, while
  /// it makes a context or accepts a connection on ipc: so nobody lets it come to that.
  enum FileDescriptorBudget {
    /// What a context takes (its threads and their queues have seven at most), and the sockets, monitors and first
    /// connections of a node.
    static let forContext = 24
    /// What a hub must be allowed at the least: half of it would do for a runner's devices.
    static let forHub = 192

    /// How many this process may have.
    static var limit: Int {
      var limits = rlimit()
      #if canImport(Glibc)
        let outcome = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
      #else
        let outcome = getrlimit(RLIMIT_NOFILE, &limits)
      #endif
      return outcome == 0 ? Int(clamping: limits.rlim_cur) : .max
    }

    /// A connection with this number or a higher one is one too many. The system gives the lowest that is free, so all
    /// below are taken then. What lies above is for those that connect before somebody notices.
    static var ceiling: Int {
      let limit = limit
      return limit - max(64, limit / 4)
    }

    /// Whether so many more could be opened now.
    static func has(_ count: Int) -> Bool {
      var opened: [CInt] = []
      defer { for descriptor in opened { close(descriptor) } }
      guard let first = open("/dev/null", O_RDONLY | O_CLOEXEC).asDescriptor else { return false }
      opened.append(first)
      while opened.count < count {
        guard let next = fcntl(first, F_DUPFD_CLOEXEC, 0).asDescriptor else { return false }
        opened.append(next)
      }
      return true
    }
  }

  extension CInt {
    fileprivate var asDescriptor: CInt? { self >= 0 ? self : nil }
  }
#endif
