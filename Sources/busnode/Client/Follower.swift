import Foundation
import RunBus

/// Follows what happens on a bus until Ctrl-C.
struct Follower: Sendable {
  let visit: BusClient
  /// How long to wait for the first word of the hub.
  let patience: BusDuration

  private enum Part: Sendable { case ended, readerIsGone, signal(Int32), silence }

  /// Gives every event to `write`, which says whether it wrote a line; ends after `countMax` lines.
  ///
  /// Throws ``QuietExit`` with 130 at Ctrl-C, ``QuietExit/pipeClosed`` when nobody reads any more, and ``Failure`` when the
  /// hub never answers.
  func follow(countMax: Int?, _ write: @Sendable @escaping (BusEvent) throws -> Bool) async throws {
    let signals = Signals.stream()
    // Nothing may happen on the bus for hours: the next line would come too late to notice.
    let readerIsGone = StandardDescriptors.readerIsGone()
    // Subscribed before the peer runs: the state that the welcome brings is the first line.
    let events = await visit.peer.events()
    let part = try await visit.run { peer in
      let reachabilities = await peer.reachabilities()
      return try await withThrowingTaskGroup(of: Part?.self) { group in
        group.addTask {
          var count = 0
          for await event in events {
            if try write(event) { count += 1 }
            if count == countMax { break }
          }
          return .ended
        }
        group.addTask {
          for await signal in signals { return .signal(signal) }
          return nil
        }
        group.addTask {
          for await _ in readerIsGone { return .readerIsGone }
          return nil
        }
        group.addTask {
          let isThere = try await within(patience) { await reachabilities.first { $0.isReachable } != nil }
          return isThere == true || Task.isCancelled ? nil : .silence
        }
        while let part = try await group.next() {
          guard let part else { continue }
          group.cancelAll()
          return part
        }
        return .ended
      }
    }
    switch part {
    case .ended: return
    case .readerIsGone: throw QuietExit.pipeClosed
    // As a shell reports the end by a signal: 130 for Ctrl-C.
    case .signal(let number): throw QuietExit(exitStatus: 128 + number)
    case .silence: throw Failure.noAnswer(visit.location, within: patience)
    }
  }
}

/// What `body` finds, or `nil` when it takes longer than a span of real time.
func within<Value: Sendable>(
  _ span: BusDuration, _ body: @Sendable @escaping () async throws -> Value
) async throws -> Value? {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try? await Task.sleep(for: .nanoseconds(span.nanoseconds))
      return nil
    }
    let first = try await group.next()
    group.cancelAll()
    return first.flatMap { $0 }
  }
}
