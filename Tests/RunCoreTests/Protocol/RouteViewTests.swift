import RunCore
import Testing

@Suite("A follower assembles the route")
struct RouteViewTests {
  private static func point(_ second: Int, _ verdict: FixVerdict = .counted) -> RoutePoint {
    RoutePoint(
      offset: .seconds(Int64(second)), position: Position(latitude: 48, longitude: Double(second) / 10_000),
      verdict: verdict)
  }

  /// A part of run 1 in the hub's first term; each point states its second.
  private static func part(
    _ number: UInt64, from: Int, _ seconds: [Int], total: Int? = nil, run: UInt64 = 1, term: UInt64 = 1,
    _ verdict: FixVerdict = .counted
  ) -> RoutePart {
    RoutePart(
      runID: RunID(high: 0, low: run), term: term, number: number, from: from,
      points: seconds.map { point($0, verdict) }, total: total ?? from + seconds.count)
  }

  private static func snapshot(_ tick: UInt64, _ phase: RunPhase) -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: 1, revision: 1, tick: tick), phase: phase, runID: RunID(high: 0, low: 1),
      changedBy: nil, startedAt: .zero, capturedAt: .zero, metrics: RunMetrics())
  }

  private static let began = RouteView.Action.began(RunID(high: 0, low: 1))

  /// A view that has joined a run of three points.
  private static var joined: RouteView {
    var view = RouteView()
    _ = view.joined()
    _ = view.receive(answer: part(4, from: 0, [1, 2, 3]))
    return view
  }

  private func seconds(_ view: RouteView) -> [Int] { view.points.map { Int($0.offset.seconds) } }

  @Test("A follower of a run from its start asks once and then relies on the published parts")
  func fromTheStart() {
    var view = RouteView()
    #expect(view.joined() == [.ask(from: 0)])
    #expect(!view.isComplete)
    #expect(view.receive(answer: nil) == [])
    #expect(view.receive(Self.part(1, from: 0, [])) == [Self.began])
    #expect(view.receive(Self.part(2, from: 0, [1, 2, 3])) == [.changed(from: 0)])
    #expect(view.receive(Self.part(3, from: 3, [4])) == [.changed(from: 3)])
    #expect(seconds(view) == [1, 2, 3, 4])
    #expect(view.isComplete)
  }

  @Test("A late joiner asks until it has the whole route, and parts that are published meanwhile do not disturb it")
  func lateJoiner() {
    let all = Array(0..<1200)
    var view = RouteView()
    #expect(view.joined() == [.ask(from: 0)])
    #expect(
      view.receive(answer: Self.part(9, from: 0, Array(all[..<512]), total: 1200))
        == [Self.began, .changed(from: 0), .ask(from: 512)])
    // The part is far ahead of the view, so only its number counts.
    #expect(view.receive(Self.part(10, from: 1200, [1200], total: 1201)) == [])
    #expect(
      view.receive(answer: Self.part(10, from: 512, Array(all[512..<1024]), total: 1201))
        == [.changed(from: 512), .ask(from: 1024)])
    #expect(view.receive(answer: Self.part(10, from: 1024, Array(1024...1200))) == [.changed(from: 1024)])
    #expect(seconds(view) == Array(0...1200))
    #expect(view.isComplete)
  }

  @Test("A part that replaces the tail reports only the points that differ")
  func replacedTail() {
    var view = Self.joined
    #expect(view.receive(Self.part(5, from: 1, [2, 3, 4])) == [.changed(from: 3)])
    #expect(view.receive(Self.part(6, from: 2, [3, 4], .notRunning)) == [.changed(from: 2)])
    #expect(view.points.map(\.verdict) == [.counted, .counted, .notRunning, .notRunning])
    #expect(view.receive(Self.part(7, from: 1, [2])) == [.changed(from: 2)])
    #expect(seconds(view) == [1, 2])
  }

  @Test("A lost part is noticed by its number, though no index is missing, and no point is added twice")
  func lostPart() {
    var view = Self.joined
    // Part 5, which was lost, said that the third point does not count.
    #expect(view.receive(Self.part(6, from: 3, [4])) == [.ask(from: 0)])
    #expect(!view.isComplete)
    // A part that follows before the answer cannot be placed yet.
    #expect(view.receive(Self.part(7, from: 4, [5])) == [])
    var answer = Self.part(7, from: 0, [1, 2, 3, 4, 5])
    answer.points[2].verdict = .inaccurate
    #expect(view.receive(answer: answer) == [.changed(from: 2)])
    #expect(seconds(view) == [1, 2, 3, 4, 5])
    #expect(view.isComplete)
  }

  @Test("A part that holds the whole route repairs a lost part")
  func lostBeforeAll() {
    var view = Self.joined
    #expect(view.receive(Self.part(6, from: 0, [1, 2, 3, 4])) == [.changed(from: 3)])
    #expect(view.isComplete)
  }

  @Test("A part that comes twice, and one that is older than what is known, change nothing")
  func olderParts() {
    var view = Self.joined
    #expect(view.receive(Self.part(5, from: 3, [4])) == [.changed(from: 3)])
    #expect(view.receive(Self.part(5, from: 3, [4])) == [])
    #expect(view.receive(Self.part(4, from: 0, [9])) == [])
    #expect(view.receive(Self.part(99, from: 0, [9], term: 0)) == [])
    // An answer that was made before the part that overtook it.
    #expect(view.joined() == [.ask(from: 4)])
    #expect(view.receive(Self.part(6, from: 4, [5])) == [.changed(from: 4)])
    #expect(view.receive(answer: Self.part(5, from: 4, [], total: 4)) == [])
    #expect(seconds(view) == [1, 2, 3, 4, 5])
    #expect(view.isComplete)
  }

  @Test("An answer that overtakes a published part makes the follower ask for the whole route and ignore that part")
  func overtaken() {
    var view = Self.joined
    #expect(view.joined() == [.ask(from: 3)])
    #expect(view.receive(answer: Self.part(5, from: 3, [4])) == [.ask(from: 0)])
    #expect(view.receive(Self.part(5, from: 1, [2, 3, 4])) == [])
    #expect(view.receive(answer: Self.part(5, from: 0, [1, 2, 3, 4])) == [.changed(from: 3)])
    #expect(view.isComplete)
  }

  @Test("Another run replaces the route, though its first part was lost")
  func newRun() {
    var view = Self.joined
    let second = RunID(high: 0, low: 2)
    var other = view
    #expect(view.receive(Self.part(5, from: 0, [], run: 2)) == [.began(second)])
    #expect(view.points.isEmpty)
    #expect(view.receive(Self.part(6, from: 0, [1], run: 2)) == [.changed(from: 0)])
    // An answer about the run before.
    #expect(view.receive(answer: Self.part(4, from: 3, [4])) == [])
    #expect(seconds(view) == [1])

    #expect(other.receive(Self.part(7, from: 2, [3], run: 2)) == [.began(second), .ask(from: 0)])
    #expect(other.receive(answer: Self.part(7, from: 0, [1, 2, 3], run: 2)) == [.changed(from: 0)])
  }

  @Test("After a loss of the link one question shows whether anything was missed")
  func rejoined() {
    var view = Self.joined
    #expect(view.joined() == [.ask(from: 3)])
    #expect(view.receive(answer: Self.part(4, from: 3, [])) == [])
    #expect(view.isComplete)
    // The hub restarted.
    #expect(view.joined() == [.ask(from: 3)])
    #expect(view.receive(answer: Self.part(0, from: 3, [], total: 2, term: 2)) == [.ask(from: 0)])
    #expect(view.receive(answer: Self.part(0, from: 0, [1, 2], term: 2)) == [.changed(from: 2)])
    #expect(seconds(view) == [1, 2])
  }

  @Test("A lost last part is noticed from a snapshot of a paused run, with one question for each state")
  func quiet() {
    var view = Self.joined
    #expect(view.receive(Self.snapshot(1, .running)) == [])
    #expect(view.receive(Self.snapshot(2, .completed)) == [.ask(from: 3)])
    #expect(view.receive(answer: Self.part(5, from: 3, [4])) == [.ask(from: 0)])
    #expect(view.receive(answer: Self.part(5, from: 0, [1, 2, 3, 4])) == [.changed(from: 3)])
    #expect(view.receive(Self.snapshot(2, .completed)) == [])
  }

  @Test("A state that does not change while a question is under way is asked about once more")
  func quietWhileAsking() {
    var view = Self.joined
    #expect(view.joined() == [.ask(from: 3)])
    #expect(view.receive(Self.snapshot(2, .paused)) == [])
    #expect(view.receive(answer: Self.part(4, from: 3, [])) == [.ask(from: 3)])
    #expect(view.receive(answer: Self.part(4, from: 3, [])) == [])
    #expect(view.isComplete)
  }

  @Test("Many points arrive in consecutive parts; if the rest is lost, the next snapshot shows it")
  func manyParts() {
    let all = Array(0..<1030)
    var view = RouteView()
    _ = view.joined()
    _ = view.receive(answer: Self.part(1, from: 0, []))
    #expect(view.receive(Self.part(2, from: 0, Array(all[..<512]), total: 1030)) == [.changed(from: 0)])
    var other = view
    #expect(view.receive(Self.part(3, from: 512, Array(all[512..<1024]), total: 1030)) == [.changed(from: 512)])
    #expect(view.receive(Self.part(4, from: 1024, Array(all[1024...]))) == [.changed(from: 1024)])
    #expect(view.receive(Self.snapshot(1, .running)) == [])

    #expect(other.receive(Self.snapshot(1, .running)) == [.ask(from: 512)])
    // A hub that returns no points is not asked for ever.
    #expect(other.receive(answer: Self.part(2, from: 512, [], total: 1030)) == [])
    other.answerFailed()
    #expect(other.receive(Self.snapshot(2, .running)) == [.ask(from: 512)])
  }
}
