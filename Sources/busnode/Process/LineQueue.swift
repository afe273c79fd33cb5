import Dispatch
import Foundation
import Synchronization

/// Lines on their way to a descriptor. A thread of its own writes them, so that a reader that stands still, a full disk
/// and a closed pipe cost lines and never hold up the node that writes them.
final class LineQueue: Sendable {
  /// The lines that wait for a slow reader: several minutes of a node's life, less than a megabyte. Later ones are
  /// dropped and counted.
  static let waitingMax = 4096
  /// How long the end of the process waits for a reader.
  static let lastPatience = DispatchTimeInterval.seconds(1)

  private struct State {
    var waiting: [String] = []
    var isWriting = false
    /// Lines that were neither written nor counted in a complaint yet.
    var lost = 0
    /// The last write failed.
    var hasFailed = false
    /// The last write ended within a line.
    var isTorn = false
  }
  private let descriptor: CInt
  private let state = Mutex(State())
  private let thread: DispatchQueue
  private let complain: @Sendable (String) -> Void

  /// Lines for a descriptor; what becomes of them is told to `complain`, once for each series of failures.
  init(_ descriptor: CInt, complain: @Sendable @escaping (String) -> Void) {
    self.descriptor = descriptor
    self.complain = complain
    thread = DispatchQueue(label: "busnode.lines.\(descriptor)")
  }

  /// Takes a line and returns at once.
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

  /// Waits until everything is written, or for ``lastPatience``.
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
        return state.lost > 0 ? "standard output takes lines again; \(state.lost) of them are missing" : nil
      }
      state.lost += 1
      guard !state.hasFailed else { return nil }
      return "standard output cannot be written (\(Output.reason(error))): this node goes on, its lines are lost"
    }
    if let complaint { complain(complaint) }
  }
}

/// Where a log goes: standard error, line by line, without waiting for it.
struct LogLines: TextOutputStream, Sendable {
  /// A log that cannot be written has nowhere to say so.
  static let standardError = LineQueue(STDERR_FILENO) { _ in }

  func write(_ string: String) {
    Self.standardError.put(string.last == "\n" ? String(string.dropLast()) : string)
  }
}
