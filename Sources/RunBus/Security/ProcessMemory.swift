import SystemC

#if os(Linux) || os(Android)
  /// `PR_SET_DUMPABLE` of `prctl(2)`. The C library's module for Swift does not contain the call.
  private let setDumpableOption: CInt = 4
  private typealias Prctl = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
  private let setDumpable = dlsym(nil, "prctl").map { unsafeBitCast($0, to: Prctl.self) }
#endif

/// Keeps the memory of a process that holds keys from other processes and from the disk.
enum ProcessMemory {
  /// From now on no core dump is written, and on Linux no other process of the user can attach or read the memory.
  static func protect() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if os(Linux) || os(Android)
      _ = setDumpable?(setDumpableOption, 0, 0, 0, 0)
      #if canImport(Glibc)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
      #else
        _ = setrlimit(RLIMIT_CORE, &none)
      #endif
    #else
      _ = setrlimit(RLIMIT_CORE, &none)
    #endif
  }
}
