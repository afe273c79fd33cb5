import SystemC

/// What the limits of a process leave for a node. libzmq ends the process by a signal when it cannot start a thread, so that
/// the limits are looked at before.
package enum MachineLimits {
  /// How much address space a node takes, in bytes: a dozen stacks of 8 MiB, and the heaps of as many threads.
  static let addressSpace = 512 << 20
  /// How many threads a node starts: its loop, its store, those of libzmq and of Dispatch.
  static let threads = 12
  /// What any command takes that looks at a bus or a store, as above. With less Dispatch waits for a thread without end.
  static let (addressSpaceOfCommand, threadsOfCommand) = (96 << 20, 6)

  /// What is too little for any command.
  package static var obstacleToCommands: RunBusError? {
    (tooLittleSpace(addressSpaceOfCommand, "a command") ?? tooFewThreads(threadsOfCommand, "a command"))
      .map { RunBusError(.transport, $0) }
  }

  /// What is too little for a node.
  static var obstacles: [RunBusError] {
    [tooLittleSpace(addressSpace, "a node"), tooFewThreads(threads, "a node")].compactMap { $0 }
      .map { RunBusError(.transport, $0) }
  }

  /// Only a process with such a limit is asked: elsewhere a part of this size says nothing.
  private static func tooLittleSpace(_ bytes: Int, _ who: String) -> String? {
    var limit = rlimit()
    #if canImport(Glibc)
      guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { return nil }
    #else
      guard getrlimit(RLIMIT_AS, &limit) == 0 else { return nil }
    #endif
    guard limit.rlim_cur < rlim_t(Int64.max) else { return nil }
    let space = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let space, space != MAP_FAILED else {
      return "the limit of the address space leaves less than \(bytes >> 20) MiB, which \(who) needs: raise it "
        + "(ulimit -v)"
    }
    munmap(space, bytes)
    return nil
  }

  private static func tooFewThreads(_ count: Int, _ who: String) -> String? {
    #if canImport(Glibc)
      // All of them exist at the same time: each waits until the lock is given back.
      let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      pthread_mutex_init(gate, nil)
      pthread_mutex_lock(gate)
      var started: [pthread_t] = []
      while started.count < count {
        var thread: pthread_t = 0
        let code = pthread_create(
          &thread, nil,
          { gate in
            guard let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self) else { return nil }
            pthread_mutex_lock(gate)
            pthread_mutex_unlock(gate)
            return nil
          }, gate)
        guard code == 0 else { break }
        started.append(thread)
      }
      pthread_mutex_unlock(gate)
      for thread in started { pthread_join(thread, nil) }
      pthread_mutex_destroy(gate)
      gate.deallocate()
      guard started.count == count else {
        return "only \(started.count) more threads can be started here, and \(who) needs \(count): raise the limit "
          + "(ulimit -u, or TasksMax of the unit)"
      }
    #endif
    return nil
  }
}
