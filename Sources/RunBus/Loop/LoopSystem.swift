// Every system call of the loop, read at once and sorted: expected outcomes are values, impossible ones stop here.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif
import RunCore

/// The monotonic clock that counts sleep, the one that `ContinuousClock` reads, without its detour.
func readContinuousClock() -> BusTime {
  var time = timespec()
  #if canImport(Darwin)
    clock_gettime(CLOCK_MONOTONIC, &time)
  #else
    clock_gettime(CLOCK_BOOTTIME, &time)
  #endif
  return BusTime(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
}

/// A pipe whose only use is to end another thread's `poll`; closed with its owner.
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

  /// A full pipe wakes as well as a fuller one, so the outcome does not matter.
  borrowing func wake() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// A wake-up writes one byte, and only to a sleeping loop: there is never more than this takes.
  borrowing func clear() {
    var bytes: UInt64 = 0
    _ = read(readEnd, &bytes, MemoryLayout<UInt64>.size)
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }
}

/// Waits until a descriptor is ready or the time has passed; `nil` waits for as long as it takes.
///
/// Returns how many are ready; none when a signal came in between, the caller comes back anyway.
func pollDescriptors(_ descriptors: inout [pollfd], timeout: BusDuration?) -> Int {
  // Whole milliseconds are the finest that poll takes: rounded up, so that a timer never fires early. An hour at most,
  // so that it fits; the loop comes back and waits for the rest.
  let milliseconds = timeout.map { CInt((max(0, min($0.nanoseconds, 3_600_000_000_000)) + 999_999) / 1_000_000) }
  let count = descriptors.withUnsafeMutableBufferPointer { buffer in
    poll(buffer.baseAddress, nfds_t(buffer.count), milliseconds ?? -1)
  }
  if count >= 0 { return Int(count) }
  let code = errno
  precondition(code == EINTR || code == EAGAIN || code == ENOMEM, "poll: \(systemReason(code))")
  return 0
}

/// What an error number means.
func systemReason(_ code: CInt) -> String { String(cString: strerror(code)) }

/// The calling thread as a number that no other living thread has.
func currentThreadNumber() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// A thread that somebody must join or let go.
struct SystemThread: ~Copyable, @unchecked Sendable {
  // Unchecked because pthread_t is a pointer on Darwin; it is only ever handed back to pthread, which takes it anywhere.
  private let handle: pthread_t

  /// Starts a thread; `body` is released on it when it ends.
  init(name: StaticString, _ body: @escaping @Sendable () -> Void) throws(RunBusError) {
    let box = Unmanaged.passRetained(ThreadBody(name: name, body))
    #if canImport(Darwin)
      var handle: pthread_t?
      let code = pthread_create(&handle, nil, { threadMain($0) }, box.toOpaque())
      guard code == 0, let handle else {
        box.release()
        throw RunBusError(.transport, "no thread for the loop: \(systemReason(code))")
      }
      self.handle = handle
    #else
      var handle = pthread_t()
      let code = pthread_create(&handle, nil, { threadMain($0) }, box.toOpaque())
      guard code == 0 else {
        box.release()
        throw RunBusError(.transport, "no thread for the loop: \(systemReason(code))")
      }
      self.handle = handle
    #endif
  }

  /// Waits for its end.
  consuming func join() { pthread_join(handle, nil) }
  /// Lets it end by itself.
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
  // Signals are the main thread's: a handler must not run in the middle of a turn.
  var all = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, nil)
  nameThread(body.name)
  body.run()
  return nil
}

/// Names the calling thread, for whoever looks at a process from outside; not worth an error.
private func nameThread(_ name: StaticString) {
  #if canImport(Darwin)
    _ = name.description.withCString { pthread_setname_np($0) }
  #else
    // glibc's own call for it is a GNU extension, which Swift does not see.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    name.withUTF8Buffer { _ = write(file, $0.baseAddress, $0.count) }
    close(file)
  #endif
}
