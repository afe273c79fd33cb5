import RunCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a loop's thread watches: sources and timers. Used on that thread only.
final class LoopPoller {
  private struct WeakTimer { weak var timer: LoopTimer? }
  private var sources: [any LoopSource] = []
  private var descriptors: [pollfd] = []
  private var touched: [any LoopSource] = []
  private var timers: [WeakTimer] = []

  /// The first descriptor is the wake-up pipe's reading end.
  init(wakeUp: CInt) { descriptors = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)] }

  func add(_ source: any LoopSource) {
    sources.append(source)
    descriptors.append(pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: 0))
    touch(source)
  }

  func remove(_ source: any LoopSource) {
    touched.removeAll { $0 === source }
    guard let index = sources.firstIndex(where: { $0 === source }) else { return }
    sources.remove(at: index)
    descriptors.remove(at: index + 1)
  }

  func touch(_ source: any LoopSource) {
    if !touched.contains(where: { $0 === source }) { touched.append(source) }
  }

  func add(_ timer: LoopTimer) {
    timers.removeAll { $0.timer == nil }
    timers.append(WeakTimer(timer: timer))
  }

  var hasTouched: Bool { !touched.isEmpty }

  /// Drains what was touched, once each; what has more left is touched again.
  func drainTouched() {
    let batch = touched
    touched.removeAll(keepingCapacity: true)
    for source in batch where sources.contains(where: { $0 === source }) {
      if source.drain() { touch(source) }
    }
  }

  /// The earliest deadline.
  var deadline: BusTime? { timers.compactMap { $0.timer?.deadline }.min() }

  /// Fires the timers whose deadlines have come.
  func fire(at now: BusTime) {
    let due = timers.compactMap(\.timer).filter { $0.deadline.map { $0 <= now } ?? false }
    for timer in due where timer.deadline.map({ $0 <= now }) ?? false { timer.fire() }
  }

  /// Waits for a descriptor, at most until a moment (`nil`: as long as it takes); touches what is ready, and says
  /// whether anything was.
  func wait(until moment: BusTime?) -> Bool {
    guard poll(until: moment) > 0 else { return false }
    for index in sources.indices where descriptors[index + 1].revents != 0 { touch(sources[index]) }
    return true
  }

  /// Whether the wake-up pipe was written to, as of the last wait.
  var isWokenUp: Bool { descriptors[0].revents != 0 }

  private func poll(until moment: BusTime?) -> CInt {
    // Rounded up to milliseconds, the finest that poll takes: never early.
    let left = moment.map { max(0, ($0 - Loop.now).nanoseconds) }
    let milliseconds = left.map { CInt(clamping: ($0 / 1_000_000) + ($0 % 1_000_000 > 0 ? 1 : 0)) } ?? -1
    return descriptors.withUnsafeMutableBufferPointer { buffer in
      systemPoll(buffer.baseAddress, nfds_t(buffer.count), milliseconds)
    }
  }
}

private func systemPoll(_ descriptors: UnsafeMutablePointer<pollfd>?, _ count: nfds_t, _ milliseconds: CInt) -> CInt {
  poll(descriptors, count, milliseconds)
}
