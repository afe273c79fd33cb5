import RunCore
import Testing

/// A hub's route that grows and changes, a subscription that loses parts, and answers that arrive at any time.
private struct RouteWorld {
  var generator: SeededGenerator
  var view = RouteView()
  /// The follower's route, rebuilt only from the changes that its view reported.
  var shown: [RoutePoint] = []
  var route: [RoutePoint] = []
  var run: UInt64 = 1
  var term: UInt64 = 1
  var number: UInt64 = 0
  var published: [RoutePart] = []
  var questions: [Int] = []
  var answers: [RoutePart] = []
  var questionCount = 0
  var lost = 0

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  func part(from: Int) -> RoutePart {
    RoutePart(
      runID: RunID(high: 0, low: run), term: term, number: number, from: from,
      points: Array(route.dropFirst(from).prefix(RoutePart.pointsMax)), total: route.count)
  }

  mutating func publish(from: Int) {
    var index = from
    repeat {
      number += 1
      published.append(part(from: index))
      index += RoutePart.pointsMax
    } while index < route.count
  }

  mutating func happen() {
    switch number(below: 12) {
    case 0...4:
      let first = route.count
      for _ in 0...number(below: 700) { route.append(point()) }
      publish(from: first)
    case 5:
      guard !route.isEmpty else { return }
      let first = number(below: route.count)
      route.insert(point(), at: first)
      publish(from: first)
    case 6:
      guard !route.isEmpty else { return }
      let first = number(below: route.count)
      for index in first..<route.count { route[index].verdict = .notRunning }
      publish(from: first)
    case 7 where number(below: 4) == 0:
      run += 1
      route = []
      publish(from: 0)
    case 8 where number(below: 4) == 0:
      // The hub restarts: everything on its way is lost, and the follower joins again.
      term += 1
      number = 0
      lost += published.count
      published = []
      // Questions without an answer are asked again in the new session.
      questions += answers.map(\.from)
      answers = []
      obey(view.joined())
    default: break
    }
    while let question = questions.popLast() { answers.append(part(from: question)) }
  }

  mutating func point() -> RoutePoint {
    RoutePoint(
      offset: .seconds(Int64(number(below: 100_000))), position: Position(latitude: 1, longitude: 2),
      verdict: .counted)
  }

  /// Delivers, or loses, one part or answer.
  mutating func arrive(losing: Bool) {
    if coin(), !answers.isEmpty {
      obey(view.receive(answer: answers.removeFirst()))
    } else if !published.isEmpty {
      let part = published.removeFirst()
      if losing, number(below: 5) == 0 { lost += 1 } else { obey(view.receive(part)) }
    }
  }

  mutating func coin() -> Bool { Bool.random(using: &generator) }

  mutating func obey(_ actions: [RouteView.Action]) {
    for action in actions {
      switch action {
      case .began: shown = []
      case .changed(let from): shown = Array(shown.prefix(from)) + view.points.dropFirst(from)
      case .ask(let from):
        questionCount += 1
        questions.append(from)
      }
    }
  }

  func snapshot(_ tick: UInt64) -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: term, revision: 9, tick: tick), phase: .paused, runID: RunID(high: 0, low: run),
      changedBy: nil, startedAt: .zero, capturedAt: .zero, metrics: RunMetrics())
  }
}

@Suite("A follower's route equals the hub's in the end, whatever is lost")
struct RouteViewSampleTests {
  @Test("Random sequences of growth, changes, new runs, restarts and losses", arguments: 0..<200 as Range<UInt64>)
  func worlds(seed: UInt64) throws {
    var world = RouteWorld(seed: seed)
    world.obey(world.view.joined())
    for _ in 0..<60 {
      world.happen()
      for _ in 0..<world.number(below: 4) { world.arrive(losing: true) }
      let isShown = world.shown == world.view.points
      try #require(isShown, "seed \(seed): what is shown is not what is there")
    }
    // The run is paused: a snapshot arrives, and then every question is answered.
    world.obey(world.view.receive(world.snapshot(1)))
    for round in 0..<400 where !(world.published.isEmpty && world.answers.isEmpty && world.questions.isEmpty) {
      while let question = world.questions.popLast() { world.answers.append(world.part(from: question)) }
      world.arrive(losing: false)
      try #require(round < 399, "seed \(seed): it asks for ever")
    }
    let (isComplete, isSame) = (world.view.isComplete, world.view.points == world.route && world.shown == world.route)
    #expect(isComplete && isSame, "seed \(seed), \(world.lost) lost")
    // Each question adds points, or finds that something was missed.
    #expect(world.questionCount < 300)
  }
}
