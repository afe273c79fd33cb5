import RunCore

// What people, sensors, scripts and apps do in a simulated world, and what goes wrong meanwhile.
extension World {
  mutating func step() {
    guard !isHealed else { return }
    steps += 1
    random = WorldRandom(seed: seed, 5, UInt64(steps))
    // The time of the next step does not depend on whether this one is left out.
    let pause = rhythm.next(at: now, drawing: &random)
    schedule(.step, in: pause)
    scheduleMisdeed()
    if !options.cut.steps.contains(steps) {
      let number = steps
      write(line: "step \(number)")
      doStep()
      stepOwner()
    }
    random = WorldRandom(seed: seed, 6, UInt64(steps))
  }

  private mutating func doStep() {
    let index = Int.random(in: peers.indices, using: &random)
    // A hung node answers nobody; some people kill it.
    guard isHungUntil(.hub) <= now, isHungUntil(.peer(index)) <= now else {
      if chance(10) { crash(isHungUntil(.hub) > now ? .hub : .peer(index)) }
      return
    }
    switch Int.random(in: 0..<120, using: &random) {
    case 0..<22: press(index)
    case 22..<28: if hub.core != nil { feedHub(.press(command(of: nil))) }
    case 28..<52: measure(index)
    case 52..<55: if isTroubled() { disconnect(index) }
    case 55..<60: schedule(.linkUp(index), in: .zero)
    case 60..<62: request()
    case 62..<64: useShell()
    case 64..<68: spoolPress()
    case 68..<73: look(chance(3) ? .hub : .peer(index))
    case 73..<82: post(from: .peer(index), to: .hub)
    case 82..<91: post(from: .hub, to: .peer(index))
    case 91..<93: if chance(4), isTroubled() { crash(.hub) }
    case 93..<96: if chance(3), isTroubled() { crash(.peer(index)) }
    case 96..<97 where isTroubled(): peers[index].muteUntil = now + milliseconds(100...8000)
    case 97..<98 where isTroubled(): peers[index].deafUntil = now + milliseconds(100...8000)
    case 98..<99 where isTroubled(): halfOpen(index)
    case 99..<103: cancel(at: chance(3) ? .hub : .peer(index))
    case 103..<104: runOutOfReach(index)
    case 104..<106: burst(index)
    case 106..<107: goAway(chance(3) ? .hub : .peer(index))
    case 107..<108: if chance(3) { dismissHub() }
    case 108..<111: keepHouse()
    case 111..<113: setWallClock(of: chance(3) ? .hub : .peer(index))
    case 113..<115: conflict()
    case 115..<116 where isTroubled(): hang(chance(3) ? .hub : .peer(index))
    case 116..<117 where isTroubled(): fillDisk(of: chance(3) ? .hub : .peer(index))
    case 117..<118 where isTroubled(): clog(index)
    default: break
    }
  }

  /// Hangs a node (SIGSTOP, a suspended app): its frames wait.
  private mutating func hang(_ party: WorldParty) {
    guard isUp(party) else { return }
    tally.count("hung")
    // An odd time, so that the waiting frames do not mix with new frames of the same moment.
    let until = min(now + milliseconds(200...(chance(3) ? 20_000 : 3000)) + oddSpan, .zero + options.trouble)
    switch party {
    case .hub:
      hub.isHungUntil = until
      hub.isTroubledUntil = max(hub.isTroubledUntil, until + .seconds(5))
      window = WorldWindow()
    case .peer(let index): peers[index].isHungUntil = until
    }
    noteDue(of: party)
  }

  private var oddSpan: BusDuration { BusDuration(nanoseconds: 333_337) }

  /// ENOSPC until somebody makes room.
  private mutating func fillDisk(of party: WorldParty) {
    tally.count("disk full")
    let until = now + milliseconds(1000...15_000)
    switch party {
    case .hub: hub.isFullUntil = until
    case .peer(let index): peers[index].isFullUntil = until
    }
  }

  /// A network that holds all frames back for a while and then delivers them at once.
  private mutating func clog(_ index: Int) {
    guard let number = peers[index].connection else { return }
    tally.count("clogged")
    let until = now + milliseconds(500...6000)
    for line in ["to \(number)", "from \(number)"] where !chance(3) {
      lastArrival[line] = max(until, lastArrival[line] ?? until)
    }
  }

  private mutating func isTroubled() -> Bool { chance(climate.trouble) }

  /// Somebody sets a wall clock, by an hour at most: after a larger jump the hub would forget its verdicts.
  private mutating func setWallClock(of party: WorldParty) {
    // On a fast bus an hour is more bus time than the hub remembers.
    guard party != .hub || speed == .realTime else { return }
    tally.count("wall clock set")
    let jump = Double.random(in: -3600...3600, using: &wallRandom)
    switch party {
    case .hub: hub.wallOffset = jump
    case .peer(let index): peers[index].wallOffset = jump
    }
  }

  // MARK: Presses

  mutating func command(of index: Int?, _ wanted: CommandKind? = nil) -> Command {
    let id = CommandID(high: 4, low: number())
    let kinds: [CommandKind] = [.start, .start, .pause, .pause, .resume, .resume, .stop, .lap]
    let kind = wanted ?? kinds.randomElement(using: &random)!
    if let index { presses[id] = WorldPress(peer: index, kind: kind) }
    var command = Command(id: id, kind: kind, source: .shell)
    if kind == .start { command = .start(id: id, goal: Self.goal(of: id), source: .shell) }
    command.ifRevision = condition(of: id, at: index, wanted)
    return command
  }

  /// The revision that a press expects: every eighth has a condition, on the revision that its device shows, or on the
  /// next one. Commands of a run out of reach and the stop that ends a world have none. It follows from the id, so that
  /// nothing else in a world is drawn otherwise.
  private func condition(of id: CommandID, at index: Int?, _ wanted: CommandKind?) -> UInt64? {
    guard id.low % 8 == 3, wanted == nil || index != nil else { return nil }
    guard let index else { return hub.store.revision + (id.low % 5 == 0 ? 1 : 0) }
    guard peers[index].connection != nil, let core = peers[index].core else { return nil }
    return core.authoritative.order.revision + (id.low % 5 == 0 ? 1 : 0)
  }

  /// The goal that a start names: every third start of a world has one, from a second to a bit more than an hour. It
  /// follows from the id, so that the checks know it as well.
  static func goal(of start: CommandID) -> RunGoal? {
    start.high == 4 && start.low % 3 == 0 ? RunGoal(time: .milliseconds(1000 + Int64(start.low % 3001) * 1201)) : nil
  }

  mutating func press(_ index: Int, _ kind: CommandKind? = nil) {
    guard peers[index].core != nil else { return }
    if peers[index].connection == nil { tally.count("press offline") }
    feedPeer(index, .press(command(of: index, kind)))
  }

  /// Somebody taps impatiently.
  private mutating func burst(_ index: Int) {
    tally.count("burst")
    for _ in 0..<Int.random(in: 3...8, using: &random) {
      let kinds: [CommandKind] = [.start, .pause, .resume, .resume, .pause, .lap]
      schedule(.press(index, kinds.randomElement(using: &random)!), in: milliseconds(0...900))
    }
  }

  /// Two people, or one with two devices, press different buttons at the same moment.
  private mutating func conflict() {
    tally.count("conflict")
    for index in peers.indices.shuffled(using: &random).prefix(2) {
      let kinds: [CommandKind] = [.start, .pause, .resume, .stop, .lap]
      schedule(.press(index, kinds.randomElement(using: &random)!), in: milliseconds(0...300))
    }
  }

  /// A whole run out of reach, if the link stays down that long.
  private mutating func runOutOfReach(_ index: Int) {
    guard peers[index].core != nil else { return }
    tally.count("run out of reach")
    disconnect(index, isComing: false)
    var moment: Int64 = 0
    for kind in [CommandKind.start, .pause, .resume, .lap, .stop] {
      if kind == .lap, chance(2) { continue }
      schedule(.press(index, kind), in: .milliseconds(moment))
      moment += Int64.random(in: 100...1500, using: &random)
    }
    schedule(.linkUp(index), in: milliseconds(2000...9000))
  }

  /// The readings of a peer have numbers from its own range.
  static let readingsOfPeer: UInt64 = 1_000_000

  private mutating func measure(_ index: Int) {
    guard peers[index].core != nil else { return }
    let bpm = UInt64(index) * Self.readingsOfPeer + number()
    let age = milliseconds(0...2000)
    if !isUnknown(reading: bpm) {
      samples[bpm] = WorldSample(
        peer: index, life: peers[index].life, time: hub.isBooting ? nil : hub.busClock.bus(at: hubNow - age))
    }
    feedPeer(
      index, .sample(Sample(moment: .at(peerNow(index) - age), value: .heartRate(bpm: Double(bpm)))))
  }

  /// A plain REQ: a new one, or an earlier one that has no answer yet.
  private mutating func request() {
    let again = requested.keys.filter { answered[$0] == nil }.min()
    if let again, Bool.random(using: &random), let command = requested[again] { return ask(command) }
    ask(command(of: nil))
  }

  mutating func ask(_ command: Command) {
    guard hub.core != nil else { return }
    tally.count("request")
    let request = Request(
      .command(CommandRequest(command: command, deviceID: DeviceID("script"), age: milliseconds(0...100))))
    requested[command.id] = command
    let connection = ConnectionID(route: route(number()).route, isRequest: true)
    if !isHealed, chance(10) { return }
    schedule(.toHub(connection, PeerFrame(session: 0, sentAt: .zero, message: .request(request))), in: delay())
  }

  /// A shell leaves its command in the spool; some also send it, and some never hear the answer.
  private mutating func spoolPress() {
    tally.count("spooled")
    let press = command(of: nil)
    // Some lie there for more than a day.
    let age = chance(10) ? BusDuration.seconds(100_000) : milliseconds(0...5000)
    spool[press.id] = (press, now - age)
    if chance(3) { schedule(.asks(press), in: milliseconds(0...1000)) }
    if chance(3) { openShell(forCommands: [press], isAlone: false) }
    for party in parties where chance(2) { schedule(.looks(party), in: milliseconds(0...3000)) }
  }

  /// A node looks into the spool of its machine.
  mutating func look(_ party: WorldParty) {
    if isHealed { schedule(.looks(party), in: .seconds(5)) }
    guard isUp(party), !spool.isEmpty else { return }
    if spool.count > 1 { tally.count("spooled at several nodes") }
    let clock: WorldClock =
      switch party {
      case .hub: hub.clock
      case .peer(let index): peers[index].clock
      }
    let found = spool.sorted { $0.key < $1.key }.map {
      ForwardedCommand(
        command: $0.value.command, deviceID: DeviceID("script"), since: clock.reading(at: $0.value.pressedAt),
        isUncertain: false)
    }
    switch party {
    case .hub: feedHub(.spooled(found))
    case .peer(let index): feedPeer(index, .spooled(found))
    }
  }

  mutating func settleSpool(_ id: CommandID) {
    tally.count("spool settled")
    if hub.store.verdicts[id] == nil, loss != .hub { faults.append("\(id) leaves the spool without a verdict") }
    spool[id] = nil
  }

  // MARK: Messages

  private mutating func post(from: WorldParty, to: WorldParty) {
    guard isUp(from) else { return }
    let order = number()
    let id = MessageID(high: 6, low: order)
    let deliveryClass: DeliveryClass =
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<2: .live
      case 2..<5: .latest(key: ["goal", "voice"].randomElement(using: &random)!)
      default: .queued
      }
    var post = WorldPost(from: from, to: to, number: order, deliveryClass: deliveryClass)
    if deliveryClass == .queued {
      switch Int.random(in: 0..<40, using: &random) {
      case 0..<4: post.temper = .flaky
      case 4: post.temper = posts.values.contains { $0.temper == .poison } ? .good : .poison
      case 5: post.temper = .deadly
      default: break
      }
    }
    posts[id] = post
    if deliveryClass == .queued { roads[WorldRoad(from: from, to: to), default: []].append(id) }
    let message = AppMessage(id: id, name: chance(3) ? "photo" : "note", body: [1, 2, 3])
    switch (from, to) {
    case (.peer(let index), _): feedPeer(index, .post(message, deliveryClass))
    case (.hub, .peer(let index)): feedHub(.post(message, deliveryClass, to: peers[index].name))
    case (.hub, .hub): break
    }
  }

  mutating func noteRefusal(of id: MessageID, _ refusal: PostRefusal) {
    tally.count("post refused")
    posts[id]?.isRefused = true
  }

  /// The app stops reading messages for a while, or changes its readers.
  private mutating func goAway(_ party: WorldParty) {
    guard isUp(party) else { return }
    if chance(2) { return changeReaders(of: party) }
    tally.count("handler went away")
    setHandling(party, false)
    schedule(.handles(party, life: life(of: party), true), in: milliseconds(0...3000))
  }

  /// Somebody cancels the youngest item that may still wait.
  private mutating func cancel(at party: WorldParty) {
    let message = posts.filter { $0.value.from == party && $0.value.deliveryClass == .queued }.keys.max()
    var press: CommandID?
    if case .peer(let index) = party { press = presses.filter { $0.value.peer == index }.keys.max() }
    let wanted = press.map { MessageID(high: $0.high, low: $0.low) }
    guard let id = chance(2) ? message ?? wanted : wanted ?? message else { return }
    switch party {
    case .hub: feedHub(.inquire(.cancel(id), id.low))
    case .peer(let index): feedPeer(index, .inquire(.cancel(id), id.low))
    }
  }
}
