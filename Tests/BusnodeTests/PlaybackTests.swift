import RunBus
import Testing

@testable import busnode

@Suite("When the samples of a recording are due")
struct PlaybackTests {
  /// A run that has been on since a moment.
  private func running(since: BusTime) -> Snapshot {
    var snapshot = Snapshot.none
    snapshot.order = SnapshotOrder(term: 1, revision: 1, tick: 1)
    snapshot.phase = .running
    snapshot.runID = .random()
    snapshot.startedAt = since
    return snapshot
  }

  private static let second = Timeline(
    (0..<10).map { Sample(moment: .runOffset(.seconds($0)), value: .heartRate(bpm: 150)) })

  @Test("A node that joins a run plays its recording from there on, and reports its end once")
  func late() {
    let start = BusTime.zero + .seconds(100)
    var playback = Playback(Self.second)
    let isNews = playback.observe(running(since: start), now: start + .seconds(7))
    #expect(isNews)
    #expect(playback.ranOutAt == nil)
    let due = playback.takeDue(now: start + .seconds(8))
    #expect(due.map(\.moment) == [.runOffset(.seconds(7)), .runOffset(.seconds(8))])
    #expect(playback.nextDue == start + .seconds(9))
    let last = playback.takeDue(now: start + .seconds(20))
    #expect(last.count == 1)
    #expect(playback.ranOutAt == .seconds(9))
  }

  @Test("In a pause nothing is due; what was measured in it comes at its end, a part at a time")
  func pause() {
    let start = BusTime.zero + .seconds(100)
    var playback = Playback(
      Timeline((0..<2000).map { Sample(moment: .runOffset(.seconds($0)), value: .heartRate(bpm: 150)) }))
    var snapshot = running(since: start)
    _ = playback.observe(snapshot, now: start)
    let before = playback.takeDue(now: start + .seconds(9))
    snapshot.phase = .paused
    let isPauseNews = playback.observe(snapshot, now: start + .seconds(10))
    let during = playback.takeDue(now: start + .seconds(500))
    #expect(before.count == 10 && isPauseNews && during.isEmpty && playback.nextDue == nil && !playback.isDone)
    snapshot.phase = .running
    let isResumeNews = playback.observe(snapshot, now: start + .seconds(1009))
    #expect(isResumeNews)
    let counts = (0..<3).map { _ in playback.takeDue(now: start + .seconds(1009)).count }
    #expect(counts == [500, 500, 0] && playback.nextDue == start + .seconds(1010))
  }
}
