import RunCore
import Testing
import TestSupport

extension HubDisk: JournalDisk {
  // A commit that was not made leaves nothing to undo.
  mutating func crash() {}
}

@Suite("A hub dies at every step of its journal")
struct HubJournalTests {
  private typealias World = JournalledRun<HubDisk>
  private typealias Death = World.Death

  /// The commit that accepts the start, after those of the hub's term and of the watch's hello.
  private static let startAccepted = 3

  /// The run with a hub that never dies, and how many commits it makes.
  private static func whole(_ downtime: Downtime) -> (outcome: RunOutcome, commits: Int) {
    let world = World(on: HubDisk(), downtime: downtime)
    return (world.outcome, world.commits)
  }

  private func expect(_ deaths: [Death], _ downtime: Downtime, against whole: RunOutcome) {
    let world = World(on: HubDisk(), dying: deaths, downtime: downtime)
    let faults = world.outcome.faults + world.outcome.losses(against: whole, downtime: downtime)
    if !faults.isEmpty { Issue.record("\(deaths), \(downtime): \(faults.prefix(3).joined(separator: "; "))") }
    // The second death may lie after the run's last commit.
    #expect(world.outcome.backs.count == world.outcome.deaths.count && !world.outcome.deaths.isEmpty)
  }

  @Test("A run whose hub never dies contains what was pressed and measured")
  func whole() {
    for downtime in Downtime.allCases {
      let (outcome, commits) = Self.whole(downtime)
      #expect(outcome.faults == [])
      #expect(outcome.losses(against: outcome, downtime: downtime) == [])
      #expect(outcome.pressed.count == 5 && commits > 15)
      #expect(outcome.metrics.active == .milliseconds(11_800))
      #expect(outcome.metrics.elapsed == .milliseconds(15_300))
      #expect(outcome.metrics.lapCount == 2)
      #expect(outcome.metrics.distanceMeters ?? 0 > 20)
    }
  }

  @Test(
    "A hub that dies at any step of a commit continues with the same transitions, verdicts and readings",
    arguments: [Downtime.paused, .running])
  func everyStep(downtime: Downtime) {
    let (whole, commits) = Self.whole(downtime)
    for commit in 1...commits {
      for moment in Death.Moment.allCases {
        // Before the first commit nothing was written, so there is neither a term nor a clock.
        if commit == 1, moment == .before { continue }
        for away in [BusDuration.milliseconds(200), .seconds(4), .seconds(40)] {
          // A run that began and ended while the hub was dead arrives as a whole run and becomes a record.
          if away > .seconds(10), commit <= Self.startAccepted { continue }
          expect([Death(commit: commit, moment, away: away)], downtime, against: whole)
        }
      }
    }
  }

  // Once broken: A gap ended up to half a second after the hub was back, because the end of the gap waited for the
  // window of an accepted press.
  @Test(
    "A hub that dies again while it recovers continues one run, and no downtime counts twice",
    arguments: [Downtime.paused, .running])
  func everyRecovery(downtime: Downtime) {
    let (whole, commits) = Self.whole(downtime)
    for commit in 1...commits {
      // The second death is before, in or right after the next incarnation's first commit, or after the one that
      // follows.
      for next in 1...2 {
        for moment in Death.Moment.allCases {
          for away in [BusDuration.milliseconds(200), .seconds(5)] {
            expect(
              [
                Death(commit: commit, .after, away: .seconds(4)),
                Death(commit: commit + next, moment, away: away),
              ], downtime, against: whole)
          }
        }
      }
    }
  }

  // Once broken: Downtime counted as active when a run that was paused at the hub's death was resumed during the
  // downtime, because the gap was written only for a running run.
  @Test("Three incarnations without a commit leave one gap from the first death to the last return")
  func noCommitAtAll() {
    let (whole, _) = Self.whole(.paused)
    let deaths = (8...11).map { Death(commit: $0, .before, away: .seconds(1)) }
    let world = World(on: HubDisk(), dying: deaths, downtime: .paused)
    #expect(world.outcome.faults + world.outcome.losses(against: whole, downtime: .paused) == [])
    #expect(world.outcome.gaps.count == 1)
    #expect(world.outcome.gaps.first?.upperBound == world.outcome.backs.last)
  }

  @Test("In the same boot a wall clock that is set changes nothing", arguments: [-3600.0, 3600])
  func wallClockSet(seconds: Double) {
    for downtime in Downtime.allCases {
      let (whole, commits) = Self.whole(downtime)
      for commit in 1...commits {
        expect(
          [Death(commit: commit, .after, away: .seconds(4), wallJumpSeconds: seconds)], downtime, against: whole)
      }
    }
  }

  // Once broken: After a reboot with the clock set back an accepted pause was judged illegal, idle, because bus time
  // continued from the stored clock mark, which is older than the last press.
  @Test("After a reboot with the wall clock set back an hour no time goes back, and all verdicts are the same")
  func rebootWithTheClockSetBack() {
    for downtime in Downtime.allCases {
      let (whole, commits) = Self.whole(downtime)
      for commit in 2...commits {
        for away in [BusDuration.milliseconds(200), .seconds(5)] {
          let death = Death(commit: commit, .after, away: away, isReboot: true, wallJumpSeconds: -3600)
          let world = World(on: HubDisk(), dying: [death], downtime: downtime)
          #expect(world.outcome.faults == [], "\(death), \(downtime)")
          #expect(world.outcome.judgements == whole.judgements, "\(death), \(downtime)")
          #expect(world.outcome.gaps.allSatisfy { !$0.isEmpty }, "\(death), \(downtime)")
        }
      }
    }
  }

  // Once broken: After such a reboot a window that was open at the hub's death superseded later presses, because its
  // deadline was in the future of the restarted hub.
  @Test("After a reboot with a right wall clock the run is the same")
  func reboot() {
    for downtime in Downtime.allCases {
      let (whole, commits) = Self.whole(downtime)
      for commit in 2...commits {
        expect([Death(commit: commit, .after, away: .seconds(5), isReboot: true)], downtime, against: whole)
      }
    }
  }
}
