import Testing

@testable import RunCore

/// Listeners that come, ask, report, are killed and go in a random order, and a driver of the table that checks what it is
/// told to do.
private struct ListenerStory {
  private static let topics: [ListenerTopic] = [.messages("a"), .messages(nil), .questions("q")]

  private var table = ListenerTable()
  private var random: SeededGenerator
  private var now = BusTime.zero
  private var lastID: UInt64 = 0
  private var lastMessage: UInt64 = 0
  private var lastQuestion: UInt64 = 0
  /// Who asked the questions that have no answer yet.
  private var asked: [UInt64: ListenerID] = [:]
  /// The message that the reader of each open place waits for.
  private var places: [ListenerID: (topic: ListenerTopic, message: ReceivedMessage?)] = [:]
  /// Every listener that lives, its topic, and the number of the message that it was given last.
  private var living: [ListenerID: (topic: ListenerTopic, number: UInt64?)] = [:]
  /// Which listeners were given a message.
  private var given: [MessageID: Set<ListenerID>] = [:]
  private(set) var flaws: [String] = []
  private(set) var finished = 0
  private(set) var successions = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func play(_ steps: Int) {
    for _ in 0..<steps {
      let listener = living.keys.sorted().randomElement(using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: come()
      case 1: if let listener, Int.random(in: 0..<3, using: &random) == 0 { living[listener] = nil }
      case 2: if let listener { leave(listener) }
      case 3, 4: arrive()
      case 5: pass(.milliseconds(Int64.random(in: 1...4000, using: &random)))
      default: if let listener { ask(listener) }
      }
    }
    living = [:]
    while let deadline = table.deadline {
      now = max(now, deadline)
      carryOut(table.meet(now))
    }
    if !asked.isEmpty { flaws.append("\(asked.count) questions have no answer") }
    if !places.isEmpty { flaws.append("\(places.count) places stay open") }
  }

  private mutating func question(of id: ListenerID) -> UInt64 {
    lastQuestion += 1
    asked[lastQuestion] = id
    return lastQuestion
  }

  private mutating func come() {
    lastID += 1
    let (id, topic) = (ListenerID(high: 0, low: lastID), Self.topics.randomElement(using: &random)!)
    let number = question(of: id)
    if let actions = table.succeed(id, topic, question: number, at: now) {
      successions += 1
      living[id] = (topic, nil)
      return carryOut(actions)
    }
    guard !places.values.contains(where: { $0.topic == topic }) else {
      asked[number] = nil
      return
    }
    places[id] = (topic, nil)
    living[id] = (topic, nil)
    carryOut(table.add(id, topic, question: number, at: now))
  }

  private mutating func ask(_ id: ListenerID) {
    let outcome: ListenerReport.Outcome = [.processed, .working, .failed("no")].randomElement(using: &random)!
    let report = Bool.random(using: &random) ? living[id]?.number.map { ListenerReport($0, outcome) } : nil
    carryOut(table.take(id, report, question: question(of: id), at: now))
  }

  private mutating func leave(_ id: ListenerID) {
    carryOut(table.leave(id, nil, question: question(of: id)))
    living[id] = nil
  }

  private mutating func arrive() {
    let free = places.filter { $0.value.message == nil }.keys.sorted()
    guard let place = free.randomElement(using: &random) else { return }
    lastMessage += 1
    let message = ReceivedMessage(
      message: AppMessage(id: MessageID(high: 0, low: lastMessage), name: "a", body: []), from: .watch,
      deliveryClass: Bool.random(using: &random) ? .queued : .live)
    places[place]?.message = message
    carryOut(table.hand(message, to: place, at: now))
  }

  private mutating func pass(_ span: BusDuration) {
    now = now + span
    carryOut(table.meet(now))
  }

  private mutating func carryOut(_ actions: [ListenerTable.Action]) {
    for action in actions {
      switch action {
      case .answer(let answer, let number):
        let id = asked.removeValue(forKey: number)
        if id == nil { flaws.append("question \(number) has two answers") }
        if case .handed(let handed) = answer, let id { give(handed, to: id) }
      case .refuse(_, let number):
        guard let id = asked.removeValue(forKey: number) else { return flaws.append("\(number) has two answers") }
        if !table.knows(id) { living[id] = nil }
      case .finish(let place, _):
        if places[place]?.message == nil { flaws.append("a message is finished twice") }
        places[place]?.message = nil
        finished += 1
      case .close(let place): if places.removeValue(forKey: place) == nil { flaws.append("a place closes twice") }
      }
    }
  }

  private mutating func give(_ handed: HandedMessage, to id: ListenerID) {
    let place = places.values.first { $0.message?.message.id == handed.received.message.id }
    guard let place else { return flaws.append("a message is given that no place has") }
    living[id]?.number = handed.number
    let all = given[handed.received.message.id, default: []].union([id])
    given[handed.received.message.id] = all
    let isForOne = handed.received.deliveryClass == .live || place.topic == .questions("q")
    if isForOne, all.count > 1 { flaws.append("what is for one listener is given to two") }
  }
}

@Suite("Stories of listeners")
struct ListenerStoryTests {
  @Test("Each question has one answer, each message one end; live ones reach one listener, also when some are killed")
  func stories() {
    var (finished, successions) = (0, 0)
    for seed in 1...300 as ClosedRange<UInt64> {
      var story = ListenerStory(seed: seed)
      story.play(300)
      #expect(story.flaws == [], "seed \(seed)")
      finished += story.finished
      successions += story.successions
    }
    #expect(finished > 1000 && successions > 100, "\(finished) finished, \(successions) successions")
  }
}
