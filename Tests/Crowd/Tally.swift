import Foundation
import RunBus
import Synchronization

/// Counts what the peers of a crowd have seen and reports it on standard output.
final class Tally: Sendable {
  private struct State {
    var peers = 0
    /// The last revision that each peer saw, by the peer's number.
    var revisions: [UInt64?] = []
    var arrived = 0
    /// For each revision, how many peers have seen it or a later one since they joined, and when the first did.
    /// Nobody presses while peers still join.
    var seen: [UInt64: (count: Int, first: Int64)] = [:]
  }
  private let state = Mutex(State())

  /// Registers peers that are about to join and returns their numbers.
  func expect(_ count: Int) -> Range<Int> {
    state.withLock { state in
      let numbers = state.peers..<state.peers + max(0, count)
      state.peers = numbers.upperBound
      state.revisions += Array(repeating: nil, count: numbers.count)
      return numbers
    }
  }

  /// A peer shows a snapshot.
  func see(_ snapshot: Snapshot, by number: Int) {
    let now = Loop.now.nanoseconds
    let revision = snapshot.order.revision
    let lines = state.withLock { state in
      var lines: [String] = []
      guard let earlier = state.revisions[number] else {
        state.revisions[number] = revision
        state.arrived += 1
        if state.arrived == state.peers { lines.append(#"{"event":"joined","peers":\#(state.peers)}"#) }
        return lines
      }
      guard revision > earlier else { return lines }
      state.revisions[number] = revision
      // A slow reader gets only the newest snapshot, which stands for those in between.
      for passed in earlier + 1...revision {
        let (count, first) = state.seen[passed] ?? (0, now)
        state.seen[passed] = (count + 1, first)
        guard count + 1 == state.peers else { continue }
        state.seen[passed] = nil
        lines.append(#"{"event":"seen","revision":\#(passed),"first":\#(first),"at":\#(now)}"#)
      }
      return lines
    }
    for line in lines { say(line) }
  }

  /// Writes a line at once.
  func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
