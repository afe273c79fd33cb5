import RunCore
import Testing

@Suite("A route that is longer than an answer is read as it was at one moment")
struct RouteReadingTests {
  /// A hub whose route changes between any two answers.
  private struct ChangingHub {
    var runID = RunID(high: 0, low: 1)
    var number: UInt64 = 1
    /// Of each point, which value it has now.
    var values: [Int]
    /// The routes that there were, by the number of their edition.
    var editions: [[Int]] = []

    init(_ count: Int) { values = Array(repeating: 0, count: count) }

    mutating func answer(from: Int) -> RoutePart {
      editions.append(values)
      let points = values.dropFirst(from).prefix(RoutePart.pointsMax).enumerated().map { index, value in
        RoutePoint(
          offset: .seconds(Int64(from + index)), position: Position(latitude: Double(value), longitude: 0),
          verdict: .counted)
      }
      return RoutePart(
        runID: runID, term: 1, number: number, from: min(from, values.count), points: Array(points), total: values.count
      )
    }
  }

  /// Reads the route, and lets it change after each answer. The index of the edition that was read; `nil` if none was,
  /// or no end was reached within so many questions.
  private func read(
    _ hub: inout ChangingHub, questions: Int = 200, change: (inout ChangingHub, Int) -> Void
  ) -> (edition: Int?, questions: Int) {
    var reading = RouteReading()
    var from = 0
    for question in 1...questions {
      switch reading.receive(hub.answer(from: from)) {
      case .ask(let next): from = next
      case .done(let runID, let points):
        #expect(runID == hub.runID)
        let read = points.map { Int($0.position.latitude) }
        return (hub.editions.lastIndex(of: read), question)
      }
      change(&hub, question)
    }
    return (nil, questions)
  }

  @Test("A route that stands still is read once, whatever its length", arguments: [0, 1, 511, 512, 513, 4_000])
  func still(count: Int) {
    var hub = ChangingHub(count)
    let (edition, questions) = read(&hub) { _, _ in }
    #expect(edition != nil)
    #expect(questions <= count / RoutePart.pointsMax + 2)
  }

  // Once broken: `busnode route` beside a page, at sixty times the speed, printed a part and ended with 69, because
  // each published part between two answers made the reader begin again; points were printed as they came.
  @Test(
    "Parts that are published between any two answers do not keep it from its end", arguments: [600, 3_600, 20_000])
  func growing(count: Int) {
    var hub = ChangingHub(count)
    let (edition, questions) = read(&hub) { hub, _ in
      hub.number += 1
      hub.values.append(0)
      // A late reading changes what was told of the last seconds.
      for index in hub.values.indices.suffix(5) { hub.values[index] += 1 }
    }
    #expect(edition != nil, "the points are of no moment")
    #expect(questions <= 2 * (count / RoutePart.pointsMax + 4))
  }

  @Test("A point that changes far behind the end, and points that are removed, are never mixed with others")
  func mixed() {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      var hub = ChangingHub(Int.random(in: 1...3_000, using: &random))
      let (edition, _) = read(&hub, questions: 2_000) { hub, question in
        hub.number += 1
        hub.values.append(0)
        guard question.isMultiple(of: 9) else { return }
        if Bool.random(using: &random) {
          hub.values[Int.random(in: hub.values.indices, using: &random)] += 1
        } else {
          hub.values.removeLast(Int.random(in: 0..<hub.values.count, using: &random) / 2)
        }
      }
      #expect(edition != nil, "the points are of no moment")
    }
  }

  @Test("Another run in the middle begins anew, and no run is no route")
  func otherRun() {
    var hub = ChangingHub(2_000)
    let (edition, _) = read(&hub) { hub, question in
      guard question == 2 else { return }
      hub.runID = RunID(high: 0, low: 2)
      hub.number += 1
      hub.values = Array(repeating: 7, count: 700)
    }
    #expect(edition.map { hub.editions[$0].count } == 700)
    var reading = RouteReading()
    #expect(reading.receive(nil) == .done(nil, []))
  }
}
