// All system calls of the loop. Each result is checked at once: expected outcomes are values, impossible ones trap.
import RunCore
import SystemC

/// Reads the monotonic clock of this process, which counts sleep: the machine's, except in a test that makes it wrong.
func readContinuousClock() -> BusTime { ClockError.shown(at: readMachineClock()) }

/// Reads the machine's monotonic clock that counts sleep, the same as `ContinuousClock`, but with less overhead.
func readMachineClock() -> BusTime {
  var time = timespec()
  #if canImport(Darwin)
    // CLOCK_MONOTONIC counts sleep there, too, but follows corrections of the wall clock and has whole microseconds.
    clock_gettime(CLOCK_MONOTONIC_RAW, &time)
  #else
    clock_gettime(CLOCK_BOOTTIME, &time)
  #endif
  return BusTime(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
}

/// A pipe that ends another thread's `poll`; it is closed with its owner.
struct WakePipe: ~Copyable {
  let readEnd: CInt
  private let writeEnd: CInt

  init() throws(RunBusError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw RunBusError(.transport, "no pipe for the loop: \(systemReason(errno))")
    }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  /// The outcome is ignored: a full pipe wakes the loop, too.
  borrowing func wake() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// One read is enough: a wake-up writes one byte, and only while the loop sleeps.
  borrowing func clear() {
    var bytes: UInt64 = 0
    _ = read(readEnd, &bytes, MemoryLayout<UInt64>.size)
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }
}

/// A time-out in the whole milliseconds that pollers count: rounded up, so that a timer never fires early; an hour at
/// most, so that it fits into a CInt. The loop then waits for the rest.
func pollMilliseconds(_ timeout: BusDuration) -> CInt {
  CInt((max(0, min(timeout.nanoseconds, 3_600_000_000_000)) + 999_999) / 1_000_000)
}

/// Waits until a descriptor is ready or the time-out has passed; `nil` waits without a limit.
///
/// - Returns: How many descriptors are ready; 0 also when a signal interrupted the call, because the loop polls again.
func pollDescriptors(_ descriptors: inout [pollfd], timeout: BusDuration?) -> Int {
  let milliseconds = timeout.map(pollMilliseconds)
  let count = descriptors.withUnsafeMutableBufferPointer { buffer in
    poll(buffer.baseAddress, nfds_t(buffer.count), milliseconds ?? -1)
  }
  if count >= 0 { return Int(count) }
  let code = errno
  precondition(code == EINTR || code == EAGAIN || code == ENOMEM, "poll: \(systemReason(code))")
  return 0
}

/// A thread that its owner must join or detach.
struct SystemThread: ~Copyable, @unchecked Sendable {
  // Unchecked because pthread_t is a pointer on Darwin and musl. It is only passed to pthread, which accepts it on any thread.
  private let handle: pthread_t

  /// Starts a thread, which releases `body` when it ends.
  init(name: StaticString, _ body: @escaping @Sendable () -> Void) throws(RunBusError) {
    let box = Unmanaged.passRetained(ThreadBody(name: name, body))
    #if canImport(Glibc) || canImport(Android)
      var handle = pthread_t()
      let code = pthread_create(&handle, nil, { threadMain($0) }, box.toOpaque())
      guard code == 0 else {
        box.release()
        throw MachineLimits.obstacles.first
          ?? RunBusError(.transport, "no thread for the loop: \(systemReason(code))")
      }
      self.handle = handle
    #else
      var handle: pthread_t?
      let code = pthread_create(&handle, nil, { threadMain($0) }, box.toOpaque())
      guard code == 0, let handle else {
        box.release()
        throw MachineLimits.obstacles.first
          ?? RunBusError(.transport, "no thread for the loop: \(systemReason(code))")
      }
      self.handle = handle
    #endif
  }

  /// Waits for the thread's end.
  consuming func join() { pthread_join(handle, nil) }
  /// Lets the thread end by itself.
  consuming func detach() { pthread_detach(handle) }
}

private final class ThreadBody: Sendable {
  let name: StaticString
  let run: @Sendable () -> Void
  init(name: StaticString, _ run: @escaping @Sendable () -> Void) {
    self.name = name
    self.run = run
  }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  let body = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
  // Signals go to the main thread: a signal handler must not interrupt a turn of the loop.
  var all = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, nil)
  nameThread(body.name)
  body.run()
  return nil
}

/// Names the calling thread, for `top` and debuggers. A failure is ignored.
func nameThread(_ name: StaticString) {
  #if canImport(Darwin)
    _ = name.description.withCString { pthread_setname_np($0) }
  #else
    // glibc's function for it is a GNU extension, which Swift does not import.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    name.withUTF8Buffer { _ = write(file, $0.baseAddress, $0.count) }
    close(file)
  #endif
}
