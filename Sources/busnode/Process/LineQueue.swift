import Dispatch
import Foundation
import Synchronization

/// Writes lines to a descriptor on a thread of its own. A slow reader, a full disk or a closed pipe costs lines, but
/// never blocks the node.
final class LineQueue: Sendable {
  /// How many lines may wait for a slow reader: several minutes of a node's output, less than a megabyte. Further lines
  /// are dropped and counted.
  static let waitingMax = 4096
  /// How long the process waits for a slow reader when it ends.
  static let lastPatience = DispatchTimeInterval.seconds(1)

  private struct State {
    var waiting: [String] = []
    var isWriting = false
    /// Lines that were dropped since the last notice about it.
    var lost = 0
    /// Whether the last write failed.
    var hasFailed = false
    /// Whether the last write ended within a line.
    var isTorn = false
  }
  private let descriptor: CInt
  private let state = Mutex(State())
  private let thread: DispatchQueue
  private let complain: @Sendable (String) -> Void

  /// - Parameter complain: Called once when writing begins to fail, and once when it works again.
  init(_ descriptor: CInt, complain: @Sendable @escaping (String) -> Void) {
    self.descriptor = descriptor
    self.complain = complain
    thread = DispatchQueue(label: "busnode.lines.\(descriptor)")
  }

  /// Appends a line and returns at once.
  func put(_ line: String) {
    let mustBegin = state.withLock { state in
      guard state.waiting.count < Self.waitingMax else {
        state.lost += 1
        return false
      }
      state.waiting.append(line)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if mustBegin { thread.async { self.drain() } }
  }

  /// Waits until everything is written, at most for ``lastPatience``.
  func flush() {
    let done = DispatchSemaphore(value: 0)
    thread.async { done.signal() }
    _ = done.wait(timeout: .now() + Self.lastPatience)
  }

  private func drain() {
    while true {
      let lines = state.withLock { state in
        defer { state.waiting = [] }
        if state.waiting.isEmpty { state.isWriting = false }
        return state.waiting
      }
      if lines.isEmpty { return }
      for line in lines { write(line) }
    }
  }

  private func write(_ line: String) {
    let isTorn = state.withLock { $0.isTorn }
    let bytes = Array(((isTorn ? "\n" : "") + line + "\n").utf8)
    let (count, error) = Output.write(bytes, to: descriptor)
    let complaint = state.withLock { state -> String? in
      if count > 0 { state.isTorn = count < bytes.count }
      defer { state.hasFailed = error != nil }
      guard let error else {
        defer { state.lost = 0 }
        return state.lost > 0 ? Tongue.say(.linesAgain, ["count": state.lost]) : nil
      }
      state.lost += 1
      guard !state.hasFailed else { return nil }
      return Tongue.say(.linesLost, ["reason": Output.reason(error)])
    }
    if let complaint { complain(complaint) }
  }
}

/// Writes the log to standard error, line by line, without blocking.
struct LogLines: TextOutputStream, Sendable {
  /// A failure to write the log is not reported: standard error is where it would be reported.
  static let standardError = LineQueue(STDERR_FILENO) { _ in }

  func write(_ string: String) {
    Self.standardError.put(string.last == "\n" ? String(string.dropLast()) : string)
  }
}
