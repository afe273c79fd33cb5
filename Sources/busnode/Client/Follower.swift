import Foundation
import RunBus

/// Follows what happens on a bus until Ctrl-C.
struct Follower: Sendable {
  let visit: BusClient
  /// How long to wait until the hub answers for the first time, in real time.
  let patience: BusDuration
  /// How long to follow at most, in real time; `nil` for without end.
  var limit: BusDuration?

  private enum Part: Sendable { case ended, readerIsGone, signal(Int32), silence, limit }

  /// The time is over in which the bus was to be followed.
  struct TimeOver: Error {}

  /// Passes each event to `write`, which returns whether it wrote a line; ends after `countMax` lines. Where events are
  /// missing, because this process was stopped or its output was not read, `missed` gets the number of snapshots among
  /// them.
  ///
  /// - Throws: ``QuietExit`` with 128 plus the number of a signal (130 at Ctrl-C), ``QuietExit/pipeClosed`` when the
  ///   reader of standard output has gone, ``Failure`` when no hub answers within `patience`, and ``TimeOver`` at the
  ///   limit.
  func follow(
    countMax: Int?,
    missed: @Sendable @escaping (UInt64) throws -> Void = MissedSnapshots.complain,
    _ write: @Sendable @escaping (BusEvent) throws -> Bool
  ) async throws {
    let signals = Signals.stream()
    // A quiet bus may give no line for hours, so a closed pipe must be noticed without writing to it.
    let readerIsGone = StandardDescriptors.readerIsGone()
    // Subscribe before the peer runs, so that the snapshot in the hub's welcome becomes the first line.
    let events = await visit.peer.events()
    let part = try await visit.run { peer in
      let reachabilities = await peer.reachabilities()
      return try await withThrowingTaskGroup(of: Part?.self) { group in
        group.addTask {
          var count = 0
          var gaps = MissedSnapshots()
          for await event in events {
            if case .snapshot(let state) = event, let missing = gaps.receive(state.snapshot.order) {
              try missed(missing)
            }
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
          let isThere = try await within(Duration(patience)) { await reachabilities.first { $0.isReachable } != nil }
          return isThere == true || Task.isCancelled ? nil : .silence
        }
        group.addTask {
          guard let limit, (try? await Task.sleep(for: Duration(limit))) != nil else { return nil }
          return .limit
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
    // The exit status that shells use for an end by a signal: 130 for Ctrl-C.
    case .signal(let number): throw QuietExit(exitStatus: 128 + number)
    case .limit: throw TimeOver()
    case .silence: throw Failure.noAnswer(visit.location, within: patience)
    }
  }
}

/// Finds out which snapshots never came: those of one start of the hub have consecutive numbers.
///
/// Other events have no numbers. They come by the same way as the snapshots, so that a place where snapshots are missing
/// is one where they may be missing, too.
struct MissedSnapshots: Sendable {
  private var last: SnapshotOrder?
  /// Snapshots may come twice while this node joins, or be published just before it listens.
  private var isJoined = false

  /// Takes the next snapshot.
  ///
  /// - Returns: How many are missing before it; `nil` for none.
  mutating func receive(_ order: SnapshotOrder) -> UInt64? {
    guard let last else {
      self.last = order
      return nil
    }
    guard order > last else { return nil }
    defer { (self.last, isJoined) = (order, true) }
    guard isJoined else { return nil }
    // How many the hub published before it was started again is not known.
    let missing = order.term == last.term ? order.tick - last.tick - 1 : order.tick - 1
    return missing > 0 ? missing : nil
  }

  /// Says on standard error how many are missing.
  @Sendable static func complain(_ count: UInt64) { Output.complain("busnode: \(sentence(count))") }

  static func sentence(_ count: UInt64) -> String {
    count == 1
      ? Tongue.say(.missedOne)
      : Tongue.say(.missedMany, ["count": count])
  }
}
