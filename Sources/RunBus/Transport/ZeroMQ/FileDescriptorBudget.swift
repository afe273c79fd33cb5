#if ZeroMQ && canImport(CZMQ)
  import SystemC

  /// The limit of open file descriptors of this process. libzmq aborts the process when it finds none while it creates
  /// a context or accepts a connection on ipc, so a node keeps a reserve.
  enum FileDescriptorBudget {
    /// The need of a context (seven at most for its threads and their queues) and of the sockets, monitors and first
    /// connections of a node.
    static let forContext = 24
    /// The smallest limit with which a hub starts. A runner's devices need about half of it.
    static let forHub = 192

    /// The soft limit of this process.
    static var limit: Int {
      var limits = rlimit()
      #if canImport(Glibc)
        let outcome = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
      #else
        let outcome = getrlimit(RLIMIT_NOFILE, &limits)
      #endif
      return outcome == 0 ? Int(clamping: limits.rlim_cur) : .max
    }

    /// The hub cuts all connections when one has this descriptor or a higher one. The system hands out the lowest free
    /// number, so all lower ones are in use then. The rest is a reserve for connections that arrive before the hub
    /// notices.
    static var ceiling: Int {
      let limit = limit
      return limit - max(64, limit / 4)
    }

    /// Whether this many descriptors can be opened now.
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
