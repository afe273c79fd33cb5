import RunCore

/// How much wrong members may make a hub keep (docs/protocol.md, "Bounds"), counted on its disk.
struct WorldHoldings {
  static let devicesMax = 4096
  /// Stores whose devices are gone or have replaced them; stores in use come on top.
  static let leftMax = 1024 + 4096
  static let unjudgedMax = 2048
  /// A sender's share of the queue, plus the held commands of a run that has just fallen apart or become whole.
  static let ofSenderMax = 256 + 256
  static let heldMax = 512
  static let heldOfDeviceMax = 256
  static let keysMax = 1024
  static let (valueShare, valueBytesMax, valuePool) = (8 << 10, 4 << 20, 32 << 20)
}

extension WorldStore {
  /// Bounds on commands without a verdict that are exceeded.
  var crowds: [String] {
    var faults: [String] = []
    var (queued, held): ([Sender: Int], [DeviceID: Int]) = ([:], [:])
    var total = 0
    let stopped = runsWithTheirStop
    for (press, admission, _) in accepted.values where press.origin != .ownButton {
      total += 1
      if admission != .held {
        queued[Sender(device: press.deviceID, isStream: press.store != nil), default: 0] += 1
      } else if !stopped.contains(HeldRun(press)) {
        held[press.deviceID, default: 0] += 1
      }
    }
    func check(_ count: Int, _ max: Int, _ what: String) {
      if count > max { faults.append("\(count) \(what) wait, and \(max) may") }
    }
    check(total, WorldHoldings.unjudgedMax, "commands")
    for (sender, count) in queued { check(count, WorldHoldings.ofSenderMax, "commands of \(sender.device)") }
    check(held.values.reduce(0, +), WorldHoldings.heldMax, "held commands")
    for (device, count) in held { check(count, WorldHoldings.heldOfDeviceMax, "held commands of \(device)") }
    return faults
  }

  private struct Sender: Hashable {
    let device: DeviceID
    let isStream: Bool
  }

  /// A held run, as far as its commands name it.
  private struct HeldRun: Hashable {
    let device: DeviceID
    let run: RunID?

    init(_ press: AcceptedCommand) {
      device = press.deviceID
      let id = press.command.id
      run = press.command.runID ?? (press.command.kind == .start ? RunID(high: id.high, low: id.low) : nil)
    }
  }

  private var runsWithTheirStop: Set<HeldRun> {
    var runs: Set<HeldRun> = []
    for (press, admission, _) in accepted.values where admission == .held && press.command.kind == .stop {
      runs.insert(HeldRun(press))
    }
    return runs
  }

  /// Bounds on everything else on the disk that are exceeded.
  var hoards: [String] {
    var faults: [String] = []
    if devices.count > WorldHoldings.devicesMax { faults.append("\(devices.count) devices are known") }
    let owed = delivery.rows.filter { !$0.value.isEmpty }.keys
    let stores = Set(delivery.watermarks.keys.map(\.sender)).union(owed.map(\.receiver))
    if stores.count > WorldHoldings.devicesMax + WorldHoldings.leftMax {
      faults.append("\(stores.count) stores are known")
    }
    var bytes: [DeviceID: Int] = [:]
    var keys: [DeviceID: Int] = [:]
    for row in delivery.latestReceived.values {
      bytes[row.device, default: 0] += Self.bytes(of: row)
      keys[row.device, default: 0] += 1
    }
    for (device, count) in keys where count > WorldHoldings.keysMax {
      faults.append("\(count) values of \(device) are kept")
    }
    let beyond = bytes.values.map { max(0, $0 - WorldHoldings.valueShare) }
    if beyond.contains(where: { $0 > WorldHoldings.valueBytesMax }) || beyond.reduce(0, +) > WorldHoldings.valuePool {
      faults.append("\(bytes.values.reduce(0, +)) bytes of values are kept")
    }
    return faults
  }

  /// Whether a device's values, or all values together, have no room for `wanted` more bytes.
  func hasNoRoom(for device: DeviceID, _ wanted: Int) -> Bool {
    var beyond = 0
    var (own, keys) = (0, 0)
    var ofOthers: [DeviceID: Int] = [:]
    for row in delivery.latestReceived.values {
      if row.device == device {
        (own, keys) = (own + Self.bytes(of: row), keys + 1)
      } else {
        ofOthers[row.device, default: 0] += Self.bytes(of: row)
      }
    }
    for bytes in ofOthers.values { beyond += max(0, bytes - WorldHoldings.valueShare) }
    let room = WorldHoldings.valueShare + min(WorldHoldings.valueBytesMax, max(0, WorldHoldings.valuePool - beyond))
    return keys >= WorldHoldings.keysMax || own + wanted > room
  }

  private static func bytes(of row: LatestReceived) -> Int {
    row.key.utf8.count + row.message.name.utf8.count + row.message.body.count + 320
  }
}
