import Foundation
import RunCore
import Testing
import TestSupport

@testable import RunBus

/// A store's files as a hub's disk: a hub that dies leaves what lies there, uncopied, unclosed and without a checkpoint.
private final class FileDisk: JournalDisk {
  private(set) var faults: [String] = []
  private var directory: ScratchDirectory
  private var store: NodeStore

  init() throws {
    directory = try ScratchDirectory()
    store = try NodeStore(directory: directory.path)
  }

  func commit(_ operations: [StoreOperation]) {
    let results = Results()
    store.commit(operations) { results.append($0) }
    // Reading waits for what was handed over.
    _ = try? store.termSeen()
    if results.hasFailure { faults.append("a commit failed") }
  }

  func crash() {
    do {
      let copy = try ScratchDirectory()
      try copy.takeFiles(of: directory)
      (directory, store) = (copy, try NodeStore(directory: copy.path))
      faults += store.notices
    } catch {
      faults.append("\(error)")
    }
  }

  var history: HubHistory {
    do {
      return try store.history()
    } catch {
      faults.append("\(error)")
      return HubHistory()
    }
  }
}

@Suite("A hub dies at every commit of its store")
struct StoreJournalTests {
  private typealias World = JournalledRun<FileDisk>

  @Test(
    "From the files as they lie at a commit boundary the run goes on with the same transitions, verdicts and readings",
    arguments: [Downtime.paused, .running])
  func everyBoundary(downtime: Downtime) throws {
    let whole = World(on: try FileDisk(), downtime: downtime)
    #expect(whole.outcome.faults == [])
    for commit in 1...whole.commits {
      for moment in [World.Death.Moment.before, .after] {
        // Before anything was ever written there was no life, and no time either.
        if commit == 1, moment == .before { continue }
        let disk = try FileDisk()
        let death = World.Death(commit: commit, moment, away: .seconds(4))
        let world = World(on: disk, dying: [death], downtime: downtime)
        let faults =
          disk.faults + world.outcome.faults + world.outcome.losses(against: whole.outcome, downtime: downtime)
        if !faults.isEmpty { Issue.record("\(death): \(faults.prefix(3).joined(separator: "; "))") }
        #expect(world.outcome.deaths.count == 1 && world.outcome.backs.count == 1)
      }
    }
  }
}
