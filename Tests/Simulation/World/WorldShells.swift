import RunCore

/// A shell of a simulated world: it sends commands or a question in requests, without joining the bus, and leaves.
struct WorldShell {
  enum Happening {
    case linkUp
    case linkDown(connection: UInt64)
    indirect case hears(connection: UInt64, HubFrame)
    case sendFailed(connection: UInt64)
    case wakes
    /// It is ended before it has an answer.
    case isKilled
  }

  var sender: RequestSender
  /// The peer on whose machine it runs; `nil` on the hub's.
  let machine: Int?
  /// Its commands.
  let commands: Set<CommandID>
  var connection: UInt64?
  /// When it is to be woken.
  var wakesAt: BusTime?
  /// The commands whose verdict it was told.
  var told: Set<CommandID> = []
}

extension World {
  /// Somebody uses a shell on one of the machines.
  mutating func useShell() {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: openShell(for: .state)
    case 1: openShell(for: .inquiry([.report, .peers, .route(from: 0)].randomElement(using: &random)!))
    default:
      let count = Int.random(in: 1...3, using: &random)
      openShell(forCommands: (0..<count).map { _ in command(of: nil) }, isAlone: true)
    }
  }

  /// - Parameter isAlone: whether the commands go to the hub in no other way.
  mutating func openShell(forCommands commands: [Command], isAlone: Bool) {
    let machine = drawMachine()
    let since = clock(of: machine).reading(at: now)
    for command in commands {
      shellCommands.insert(command.id)
      if isAlone, machine == nil { pressedAt[command.id] = now }
    }
    let forwarded = commands.map {
      ForwardedCommand(command: $0, deviceID: DeviceID("script"), since: since, isUncertain: false)
    }
    openShell(for: .commands(forwarded), of: Set(commands.map(\.id)), on: machine)
  }

  private mutating func openShell(for question: RequestSender.Work) {
    openShell(for: question, of: [], on: drawMachine())
  }

  private mutating func drawMachine() -> Int? { chance(2) ? nil : Int.random(in: peers.indices, using: &random) }

  private mutating func openShell(for work: RequestSender.Work, of commands: Set<CommandID>, on machine: Int?) {
    tally.count("shell")
    let key = number()
    shells[key] = WorldShell(
      sender: RequestSender(work, bootID: bootID(of: machine), seed: random.next()), machine: machine,
      commands: commands)
    schedule(.shell(key, .linkUp), in: milliseconds(0...800))
    // Some are ended by their user; the others stay until they are answered.
    if chance(4) { schedule(.shell(key, .isKilled), in: milliseconds(0...8000)) }
  }

  func clock(of machine: Int?) -> WorldClock { machine.map { peers[$0].clock } ?? hub.clock }

  /// The boot of a machine. No two machines share one.
  func bootID(of machine: Int?) -> String {
    machine.map { "boot \(peers[$0].boot) of peer \($0)" } ?? "boot \(hub.boot) of the hub"
  }

  /// The shells of a machine end with it.
  mutating func endShells(on machine: Int?) {
    for (key, shell) in shells where shell.machine == machine { shells[key] = nil }
    // Their last frames state another boot.
    if machine == nil { pressedAt = [:] }
  }

  mutating func loseShellLinks() {
    for (key, shell) in shells.sorted(by: { $0.key < $1.key }) {
      guard let connection = shell.connection else { continue }
      schedule(.shell(key, .linkDown(connection: connection)), in: milliseconds(0...200))
    }
  }

  mutating func happen(_ happening: WorldShell.Happening, to key: UInt64) {
    guard let shell = shells[key] else { return }
    switch happening {
    case .linkUp:
      guard shell.connection == nil else { return }
      guard hub.core != nil else { return schedule(.shell(key, .linkUp), in: .milliseconds(200)) }
      let connection = number()
      shells[key]?.connection = connection
      feedShell(key, .linkUp)
    case .linkDown(let connection):
      guard shell.connection == connection else { return }
      shells[key]?.connection = nil
      feedShell(key, .linkDown)
      schedule(.gone(life: hub.life, route(connection)), in: milliseconds(0...3000))
      schedule(.shell(key, .linkUp), in: milliseconds(0...2000))
    case .hears(let connection, let frame): if shell.connection == connection { feedShell(key, .frame(frame)) }
    case .sendFailed(let connection): if shell.connection == connection { feedShell(key, .sendFailed) }
    case .wakes:
      shells[key]?.wakesAt = nil
      feedShell(key, .deadline)
    case .isKilled:
      if let connection = shell.connection { schedule(.gone(life: hub.life, route(connection)), in: .zero) }
      shells[key] = nil
    }
  }

  private mutating func feedShell(_ key: UInt64, _ event: RequestSender.Event) {
    guard let machine = shells[key].map(\.machine) else { return }
    let clock = clock(of: machine)
    guard let actions = shells[key]?.sender.receive(event, at: clock.reading(at: now)) else { return }
    for action in actions {
      switch action {
      case .send(let frame): transmit(frame, byShell: key)
      case .reached: break
      case .receipt(let receipt): hear(receipt, at: key)
      case .state(let message):
        tally.count("shell answered")
        check(message.snapshot)
      case .answer: tally.count("shell answered")
      case .fail(let refusal): faults.append("a shell was refused: \(refusal.message)")
      case .finished:
        if let connection = shells[key]?.connection { schedule(.gone(life: hub.life, route(connection)), in: .zero) }
        shells[key] = nil
      }
    }
    guard let due = shells[key]?.sender.deadline.map(clock.moment), shells[key]?.wakesAt != due else { return }
    shells[key]?.wakesAt = due
    schedule(.shell(key, .wakes), in: max(.zero, due - now))
  }

  private mutating func hear(_ receipt: Receipt, at key: UInt64) {
    guard case .verdict(let verdict) = receipt.stage else { return }
    tally.count("shell told")
    if shells[key]?.told.insert(receipt.commandID).inserted == false {
      faults.append("\(receipt.commandID): a shell is told a second verdict")
    }
    if receipt.phase == nil { faults.append("\(receipt.commandID): a shell is told no phase") }
    note(verdict)
    if spool[receipt.commandID] != nil { settleSpool(receipt.commandID) }
  }

  private mutating func transmit(_ frame: PeerFrame, byShell key: UInt64) {
    guard let connection = shells[key]?.connection else { return }
    let happening = Happening.toHub(route(connection), frame)
    guard !isHealed, !isCalm else { return schedule(happening, in: delay(), after: "from \(connection)") }
    if chance(climate.frameRefusal) {
      return schedule(.shell(key, .sendFailed(connection: connection)), in: .zero)
    }
    if chance(climate.frameLoss) { return }
    schedule(happening, in: delay(), after: "from \(connection)")
    if chance(climate.frameTwice) { schedule(happening, in: delay(), after: "from \(connection)") }
  }

  /// - Returns: whether the connection belongs to a shell.
  mutating func transmitToShell(_ frame: HubFrame, on connection: UInt64) -> Bool {
    guard let key = shells.keys.sorted().first(where: { shells[$0]?.connection == connection }) else { return false }
    if !isHealed, !isCalm, chance(climate.frameLoss) { return true }
    schedule(.shell(key, .hears(connection: connection, frame)), in: delay(), after: "to \(connection)")
    return true
  }

  // MARK: Checks

  /// A press in a shell on the hub's machine has its exact time, however long its frame waited.
  mutating func checkPressTimes(_ operations: [StoreOperation]) {
    guard loss == .none, wrong.members.isEmpty else { return }
    for operation in operations {
      switch operation {
      case .accept(let press, _), .judge(_, let press, _):
        guard let moment = pressedAt[press.command.id], press.arrivedAt >= hub.beganAt else { continue }
        let expected = hub.busClock.bus(at: hub.clock.reading(at: moment))
        if press.pressedAt != min(expected, press.arrivedAt) {
          faults.append("\(press.command.id) was pressed at \(expected), and counts from \(press.pressedAt)")
        }
      default: break
      }
    }
  }

  /// Every shell that its user left alone has its answers.
  mutating func checkShells() {
    for (key, shell) in shells.sorted(by: { $0.key < $1.key }) {
      faults.append("shell \(key) still waits for \(shell.commands.subtracting(shell.told).map(\.low).sorted())")
    }
  }
}
