import RunCore

/// An app in a simulated world. Its readers take messages at the desk that real nodes have.
struct WorldApp {
  enum Outcome: Hashable {
    case returns
    case fails
    case takesItsNodeDown
  }

  var desk = ReaderQueue()
  /// The open readers: one of all names, sometimes also one of a name.
  var readers: [UInt64] = []
  /// The message that a reader works on.
  var current: ReaderQueue.Handed?
  /// Results of handlers of an earlier generation are ignored.
  var turn: UInt64 = 0

  var isHandling: Bool { !readers.isEmpty }

  mutating func crash() { self = WorldApp(turn: turn + 1) }

  private init(turn: UInt64) { self.turn = turn }
  init() {}
}

/// One message, as the world remembers it.
struct WorldPost {
  enum Temper: Hashable {
    case good
    /// Its handler throws now and then.
    case flaky
    /// Its handler always throws.
    case poison
    /// Its handler takes its node down, once.
    case deadly
  }

  let from: WorldParty
  let to: WorldParty
  let number: UInt64
  let deliveryClass: DeliveryClass
  var temper = Temper.good
  var wasDurable = false
  var isQueued = false
  /// Tombstoned: taken back, too old to be sent, or set aside. The node may have ended before it told its app.
  var isBuried = false
  var isRefused = false
  var last: DeliveryStage?
  /// How often its handler returned, including returns that a crash undid.
  var returns = 0
  var seen = 0
  var fails = 0
  /// A crash or a failure has happened since it was handled: it may come again.
  var maySeeAgain = true
  /// How often the receiver's durable watermark moved over it.
  var processed = 0
}

/// A sender and a receiver.
struct WorldRoad: Hashable {
  let from: WorldParty
  let to: WorldParty
}

extension World {
  mutating func withApp<Value>(_ party: WorldParty, _ body: (inout WorldApp) -> Value) -> Value {
    switch party {
    case .hub: body(&hub.app)
    case .peer(let index): body(&peers[index].app)
    }
  }

  /// The app begins to read messages, or stops.
  mutating func setHandling(_ party: WorldParty, _ value: Bool) {
    guard isUp(party), withApp(party, { $0.isHandling }) != value else { return }
    let names: [String?] = value ? chance(2) ? ["photo", nil] : [nil] : []
    let isGivingBack = withApp(party) { app in
      app.turn += 1
      app.current = nil
      for reader in app.readers { app.desk.close(reader) }
      app.readers = names.compactMap { app.desk.open($0) }
      return app.desk.isGivingBack
    }
    reportNews(of: party)
    if isGivingBack {
      for post in posts where post.value.to == party { posts[post.key]?.maySeeAgain = true }
      tellHandling(party, false)
      withApp(party) { $0.desk.finishGivingBack() }
    }
    if value { tellHandling(party, true) }
  }

  private mutating func tellHandling(_ party: WorldParty, _ value: Bool) {
    switch party {
    case .hub: feedHub(.handling(value))
    case .peer(let index): feedPeer(index, .handling(value))
    }
  }

  /// A reader of one name closes while the others go on, or is opened again.
  mutating func changeReaders(of party: WorldParty) {
    guard isUp(party), withApp(party, { $0.isHandling }) else { return }
    tally.count("reader changed")
    let unfinished = withApp(party) { app -> HandlerCall? in
      guard app.readers.count > 1 else {
        if let reader = app.desk.open("photo") { app.readers.insert(reader, at: 0) }
        return nil
      }
      let reader = app.readers.removeFirst()
      defer { app.desk.close(reader) }
      // What it has not finished goes to the reader of all other names.
      guard let current = app.current, app.desk.take(reader, finished: nil) != nil else { return nil }
      app.turn += 1
      app.current = nil
      return current.call
    }
    for post in posts where post.value.to == party { posts[post.key]?.maySeeAgain = true }
    reportNews(of: party)
    serve(party)
    // A live message is handed out once.
    guard let unfinished, unfinished.received.deliveryClass != .live, isUp(party) else { return }
    if withApp(party, { $0.current?.call.received.message.id }) != unfinished.received.message.id {
      faults.append("\(party): what a closed reader had not finished does not go to the next")
    }
  }

  // MARK: Handling

  mutating func take(_ handlerCall: HandlerCall, at party: WorldParty) {
    withApp(party) { $0.desk.put([handlerCall]) }
    reportNews(of: party)
    serve(party)
    // A reader that closes while it works on a message is rare otherwise.
    if chance(16) { changeReaders(of: party) }
  }

  private mutating func serve(_ party: WorldParty) {
    let next = withApp(party) { app -> HandlerCall? in
      guard app.current == nil, let reader = app.desk.nextReader else { return nil }
      app.current = app.desk.take(reader, finished: nil)
      return app.current?.call
    }
    guard let next else { return }
    let id = next.received.message.id
    see(next, at: party)
    let outcome: WorldApp.Outcome
    switch posts[id]?.temper ?? .good {
    case .good: outcome = .returns
    case .flaky: outcome = !isHealed && chance(2) ? .fails : .returns
    case .poison: outcome = .fails
    case .deadly:
      outcome = isHealed ? .returns : .takesItsNodeDown
      posts[id]?.temper = .good
    }
    let isLate = !isHealed && chance(8)
    if isLate { tally.count("handler was late") }
    let turn = withApp(party) { $0.turn }
    schedule(.returned(party, life: turn, outcome), in: milliseconds(0...(isLate ? 4000 : 30)))
  }

  mutating func handlerReturned(_ party: WorldParty, life turn: UInt64, _ outcome: WorldApp.Outcome) {
    let current = withApp(party) { app -> ReaderQueue.Handed? in
      guard app.turn == turn else { return nil }
      defer { app.current = nil }
      return app.current
    }
    guard let current, isUp(party) else { return }
    let id = current.call.received.message.id
    switch isHealed && outcome == .takesItsNodeDown ? .returns : outcome {
    case .returns:
      noteReturn(of: id)
      withApp(party) { $0.desk.finish(current.number) }
    case .fails:
      tally.count("handler threw")
      posts[id]?.fails += 1
      if current.call.sequence != nil { posts[id]?.maySeeAgain = true }
      withApp(party) { $0.desk.fail(current.number, "it threw") }
    case .takesItsNodeDown:
      tally.count("handler took its node down")
      return crash(party)
    }
    reportNews(of: party)
    serve(party)
  }

  /// Tells the core what the app has done, as a node does.
  private mutating func reportNews(of party: WorldParty) {
    for report in withApp(party, { $0.desk.takeReports() }) {
      switch (party, report) {
      case (.hub, .handled(let stream, let sequence, let generation)):
        feedHub(.handled(stream, through: sequence, handlerGeneration: generation))
      case (.hub, .failed(let stream, let sequence, let text)): feedHub(.failed(stream, sequence, text))
      case (.peer(let index), .handled(let stream, let sequence, let generation)):
        feedPeer(index, .handled(stream, through: sequence, handlerGeneration: generation))
      case (.peer(let index), .failed(let stream, let sequence, let text)):
        feedPeer(index, .failed(stream, sequence, text))
      }
    }
  }

  // MARK: Checks

  private mutating func see(_ handlerCall: HandlerCall, at party: WorldParty) {
    let id = handlerCall.received.message.id
    guard !id.isWrong else { return }
    guard var post = posts[id] else { return faults.append("a message out of nowhere: \(id)") }
    if post.to != party, !(isForPeer(post.to) && (loss != .none || wrong.harmed != nil)) {
      faults.append("\(id) came to somebody else")
    }
    if post.isRefused { faults.append("\(id) was refused and comes all the same") }
    if case .rejected(let reason)? = post.last, reason != .quarantined, !isForgiven(post) {
      faults.append("\(id) was \(reason.code) and comes all the same")
    }
    if !post.maySeeAgain, !isForgiven(post) { faults.append("\(id) came again without a crash or a failure") }
    if case .live = post.deliveryClass, post.seen > 0 { faults.append("\(id) was for now or never and came twice") }
    if handlerCall.sequence != nil, post.processed > 0, !isForgiven(post) {
      faults.append("\(id) was processed durably and came again")
    }
    post.seen += 1
    post.maySeeAgain = false
    posts[id] = post
  }

  private func isForPeer(_ party: WorldParty) -> Bool { party != .hub }

  private mutating func noteReturn(of id: MessageID) {
    guard var post = posts[id] else { return }
    post.returns += 1
    posts[id] = post
    guard post.returns == 1, post.deliveryClass == .queued, !isForgiven(post) else { return }
    // Messages keep their order: earlier ones that are still owed must have been handled or set aside.
    let road = WorldRoad(from: post.from, to: post.to)
    var ahead: [MessageID] = []
    for other in roads[road] ?? [] {
      guard let earlier = posts[other] else { continue }
      if earlier.returns > 0 || earlier.isRefused || earlier.last?.isLast ?? false { continue }
      ahead.append(other)
      guard earlier.number < post.number, earlier.isQueued else { continue }
      // Cancelled, but its sender has not been told yet.
      if disk(of: earlier.from).row(of: other) == nil { continue }
      faults.append("\(id) overtook \(other)")
    }
    roads[road] = ahead
  }

  /// Whether one of the two nodes has lost its store.
  func isForgiven(_ post: WorldPost) -> Bool {
    switch loss {
    case .hub: true
    case .none, .peer:
      [post.from, post.to].contains { if case .peer(let index) = $0 { isLost(index) } else { false } }
    }
  }

  func isOfVictim(_ post: WorldPost) -> Bool {
    [post.from, post.to].contains { if case .peer(let index) = $0 { wrong.harmed == index } else { false } }
  }

  /// Whether its store was lost, its key was taken back, or a wrong member uses its name: less is promised to it.
  func isLost(_ index: Int) -> Bool { loss == .peer(index) || wrong.harmed == index || owner.victim == index }

  func disk(of party: WorldParty) -> StoredDelivery {
    switch party {
    case .hub: hub.store.delivery
    case .peer(let index): peers[index].store.delivery
    }
  }
}
