@testable import RunCore
import Testing

@Suite("News that a slow reader has not taken")
struct NewsQueueTests {
  private static let run = RunID(high: 0, low: 1)
  private var queue = NewsQueue()

  private static func snapshot(_ tick: UInt64) -> NodeNews {
    .snapshot(
      Snapshot(
        order: SnapshotOrder(term: 1, revision: 1, tick: tick), phase: .running, runID: run, changedBy: nil,
        startedAt: .zero, capturedAt: .zero, metrics: RunMetrics()))
  }
  private static func receipt(_ id: UInt64, isJudged: Bool) -> Receipt {
    let command = CommandID(high: 0, low: id)
    let verdict = Verdict(
      commandID: command, kind: .pause, source: .watch, outcome: .applied, runID: run, term: 1, revision: 2,
      effectiveAt: .zero)
    return Receipt(commandID: command, kind: .pause, source: .watch, stage: isJudged ? .verdict(verdict) : .pending)
  }
  private static func route(from: Int, _ offsets: Int64...) -> RouteUpdate {
    RouteUpdate(
      runID: run, from: from,
      points: offsets.map {
        RoutePoint(offset: .seconds($0), position: Position(latitude: 50, longitude: 8), verdict: .counted)
      }, isComplete: true)
  }
  private mutating func put(_ news: NodeNews...) { for one in news { queue.put(one) } }
  private mutating func all() -> [NodeNews] {
    var all: [NodeNews] = []
    while let news = queue.take() { all.append(news) }
    return all
  }

  @Test("It gives everything in order, and of what only the newest counts of the newest, where that came")
  mutating func order() {
    put(Self.snapshot(1), .ownReceipt(Self.receipt(1, isJudged: true)), .predicted(.paused), Self.snapshot(2))
    #expect(all() == [.ownReceipt(Self.receipt(1, isJudged: true)), .predicted(.paused), Self.snapshot(2)])
    put(Self.snapshot(3))
    #expect(all() == [Self.snapshot(3)] && queue.isEmpty)
  }

  @Test("Updates of the route that wait become one, which changes a reader's copy as they would")
  mutating func route() {
    let updates = [
      Self.route(from: 0, 1, 2, 3), Self.route(from: 2, 4, 5), Self.route(from: 4, 6), Self.route(from: 1, 7),
    ]
    for count in 1...updates.count {
      var (one, each): ([RoutePoint], [RoutePoint]) = ([], [])
      for update in updates.prefix(count) {
        update.apply(to: &each)
        queue.put(.route(update))
      }
      for case .route(let update) in all() { update.apply(to: &one) }
      #expect(one == each)
    }
    put(.route(Self.route(from: 0, 1, 2)), .route(Self.route(from: 0, 3)))
    #expect(all() == [.route(Self.route(from: 0, 3))])
  }

  @Test("The oldest of what others cause is left out above a bound, and the reader is told; no own verdict ever is")
  mutating func bound() {
    for id in 0..<3000 {
      put(
        .receipt(Self.receipt(UInt64(id), isJudged: true), .phone),
        .ownReceipt(Self.receipt(UInt64(id), isJudged: true)), Self.snapshot(UInt64(id)))
    }
    let news = all()
    #expect(news.first == .missed(3000 - NewsQueue.othersMax))
    let own = news.compactMap { if case .ownReceipt(let receipt) = $0 { receipt.commandID.low } else { nil } }
    let others = news.compactMap { if case .receipt(let receipt, _) = $0 { receipt.commandID.low } else { nil } }
    #expect(own == Array(0..<3000))
    #expect(others == Array(UInt64(3000 - NewsQueue.othersMax)..<3000))
    #expect(news.last == Self.snapshot(2999) && news.count == 1 + 3000 + NewsQueue.othersMax + 1)
  }

  @Test("It stays small where the newest replaces the older for ever, also behind what waits")
  mutating func small() {
    put(.ownReceipt(Self.receipt(1, isJudged: true)))
    for tick in 0..<100_000 { put(Self.snapshot(UInt64(tick)), .predicted(.running)) }
    #expect(queue.slotCount < 1000)
    #expect(all().count == 3)
  }

  @Test("A break of the link that a reader did not see may have hidden what others did")
  mutating func link() {
    let (here, gone) = (NodeNews.link(Reachability(isReachable: true)), NodeNews.link(Reachability()))
    put(here, gone, here)
    #expect(all() == [.missed(1), here])
    put(here, gone)
    #expect(all() == [gone])
  }
}
