import Foundation
import RunBus
import RunScripts

/// The live screen of `up`: what its nodes show, and keys that press their buttons and harm them.
struct UpScreen {
  private(set) var state: ScreenState
  private let devices: UpDevices
  private var chosen: SpawnedNode
  /// What a peer of the bus has learned, and what has become of the presses, whose verdicts each node tells itself.
  private var board = RunBoard(own: "up")
  private var times: [CommandID: String] = [:]

  init(bus: String, units: Units, hasUnicode: Bool, devices: UpDevices = .usual) {
    self.devices = devices
    chosen = devices.phone
    state = ScreenState(bus: bus, units: units, source: .phone)
    state.hasNodes = true
    state.nodeCount = devices.all.count
    state.hasUnicode = hasUnicode
    state.isReachable = true
    choose(0)
  }

  /// Chooses the device of a number, from 0; the last one is before the first.
  private mutating func choose(_ number: Int) {
    let device = devices.all[(number + devices.all.count) % devices.all.count]
    chosen = device.node
    state.chosenNode = device.node.rawValue
    state.source = device.source
  }

  private mutating func chooseNext(_ step: Int) {
    choose((devices.all.firstIndex { $0.node == chosen } ?? 0) + step)
  }

  mutating func tell(_ sentence: String) { state.told = sentence }

  /// Takes what a peer of the bus has learned beside the snapshots, which the nodes show.
  mutating func take(_ news: NodeNews, at now: BusTime) {
    board.receive(news, at: now)
    state.route = board.route
    state.splits = board.splits
  }

  /// Notes a stage of a press on a node.
  mutating func note(_ receipt: Receipt, on node: SpawnedNode, at time: String) {
    if times[receipt.commandID] == nil { times[receipt.commandID] = time }
    board.receive(.receipt(receipt, DeviceID(node.rawValue) ?? board.own), at: .zero)
    state.commands = board.commands.map {
      ScreenState.Command($0, of: $0.deviceID.rawValue, at: times[$0.receipt.commandID] ?? "")
    }
    times = times.filter { board.receipt(of: $0.key) != nil }
  }

  /// The rows to draw.
  ///
  /// - Parameters:
  ///   - rows: What the nodes show.
  ///   - moment: Now on the board.
  ///   - speed: How fast bus time runs: the clock goes on between two snapshots.
  mutating func draw(
    _ rows: [(node: SpawnedNode, row: UpRow)], speed: BusSpeed, on screen: Screen, now: ContinuousClock.Instant,
    moment: BusTime
  ) -> [StyledRow] {
    let newest = rows.compactMap { $0.row.snapshot == nil ? nil : $0.row }
      .max { ($0.snapshot?.order ?? Snapshot.none.order) < ($1.snapshot?.order ?? Snapshot.none.order) }
    if let snapshot = newest?.snapshot, let seenAt = newest?.seenAt {
      if snapshot.order != state.snapshot.order { state.add(snapshot) }
      let moment = snapshot.capturedAt + speed.bus(fromReal: BusDuration(now - seenAt))
      (state.active, state.elapsed) = (snapshot.active(at: moment), snapshot.elapsed(at: moment))
      state.predicted = rows.first { $0.node == chosen }?.row.button ?? snapshot.phase
    }
    state.expire(at: now)
    // A phone that starts for the first time is not missed yet.
    state.isReachable = !rows.contains {
      $0.node == devices.phone && ["dead", "offline", "asleep"].contains($0.row.link)
    }
    let reports = Dictionary(
      (board.devices ?? []).map { ($0.report.deviceID.rawValue, $0) }, uniquingKeysWith: { first, _ in first })
    let roles = Dictionary(uniqueKeysWithValues: devices.all.map { ($0.node, $0.role.rawValue) })
    state.devices = rows.map { node, row in
      let device = reports[node.rawValue]
      // The hub does not list itself: its age is that of all that is known of it.
      let age =
        node == devices.phone
        ? board.viewAge(at: moment) : device.flatMap { board.heardAge(of: $0, at: moment) }
      return ScreenState.Device(
        name: node.rawValue, isHere: row.link == "up", state: row.link == "up" ? "here" : row.link,
        roundTrip: device?.report.roundTrip, waiting: Int(clamping: device?.report.waiting ?? 0),
        ageSeconds: age?.seconds, role: roles[node])
    }
    return RunScreen.rows(state, on: screen)
  }

  /// What a key that is pressed now asks for; `nil` when it changes the screen alone.
  mutating func obey(_ key: Key, at now: ContinuousClock.Instant) -> UpWish? {
    if state.closesHelp(key) { return nil }
    state.told = ""
    if key != .character("x") { state.forgetStop() }
    switch key {
    case .character("q"), .control("c"): return .end
    case .control("l"): return .redraw
    case .character("?"), .character("h"): state.isHelpShown = true
    case .tab, .down: chooseNext(1)
    case .up: chooseNext(-1)
    case .character(let digit) where ("1"..."9").contains(digit):
      let number = (digit.wholeNumberValue ?? 1) - 1
      if number < devices.all.count {
        choose(number)
      } else {
        state.told = Tongue.say(.nodesAre, ["count": devices.all.count])
      }
    case .character("s"): return .press(.start, on: [chosen])
    case .character("p"): return .press(.pause, on: [chosen])
    case .character("r"): return .press(.resume, on: [chosen])
    case .character("x"): if state.pressStop(at: now) { return .press(.stop, on: [chosen]) }
    case .character("l"): return .press(.lap, on: [chosen])
    case .character("a"): return .press(state.commandForAll, on: devices.nodes)
    case .character("o"): return .toggleOffline(chosen)
    case .character("k"): return .kill(chosen)
    case .character("n"): return .restart(chosen)
    case .character(let character): state.told = Tongue.say(.keyDoesNothing, ["key": character])
    case .enter, .escape, .backspace, .left, .right, .control: break
    }
    return nil
  }
}
