/// Shares the slots for unjudged commands among senders, so that no sender can use up the slots of another
/// (docs/protocol.md, "Busy").
struct CommandQueue: Sendable {
  /// Whom a command's slot is charged to.
  enum Sender: Hashable, Sendable {
    /// The hub's own buttons.
    case own
    /// A device that sends commands on its own stream.
    case device(DeviceID)
    /// The device name that a request states. Anybody can state any name, so no slots are reserved for it.
    case stated(DeviceID)
  }

  /// Slots in total, and the most that one sender may use.
  static let (slotsMax, senderMax) = (1024, 256)
  /// Slots reserved for the hub's own buttons, slots reserved for each device, and how many devices have reserved
  /// slots.
  static let (ownSlots, deviceSlots, devicesMax) = (64, 8, 32)
  /// Upper bound on commands without a verdict. Held commands use no slot, and those of runs that have just fallen
  /// apart get slots without a check.
  static let commandsMax = slotsMax + 2 * HeldRuns.totalMax

  private struct Command: Sendable {
    let sender: Sender
    /// The command waits for the stop of its run. It uses no slot, because ``HeldRuns`` bounds held commands.
    var isHeld: Bool
  }
  private var commands: [CommandID: Command] = [:]
  private var taken: [Sender: Int] = [:]
  /// The devices that have reserved slots.
  private(set) var devices: Set<DeviceID> = []

  /// How many slots a sender uses.
  func slots(of sender: Sender) -> Int { taken[sender] ?? 0 }

  /// Whether a sender may use one more slot, reserved for it or shared.
  func hasSlot(for sender: Sender) -> Bool {
    let count = slots(of: sender)
    guard count < Self.senderMax else { return false }
    guard count >= kept(for: sender) else { return true }
    let free = Self.slotsMax - Self.ownSlots - Self.devicesMax * Self.deviceSlots
    return taken.reduce(0) { $0 + max(0, $1.value - kept(for: $1.key)) } < free
  }

  private func kept(for sender: Sender) -> Int {
    switch sender {
    case .own: Self.ownSlots
    case .device(let device): devices.contains(device) ? Self.deviceSlots : 0
    case .stated: 0
    }
  }

  /// Reserves slots for a device if any are left. It may get those of a device that is unreachable and uses none.
  mutating func keepSlots(for device: DeviceID, isHere: (DeviceID) -> Bool) {
    guard !devices.contains(device) else { return }
    if devices.count >= Self.devicesMax {
      let gone = devices.filter { !isHere($0) && slots(of: .device($0)) == 0 }
      guard let first = gone.min() else { return }
      devices.remove(first)
    }
    devices.insert(device)
  }

  /// Charges an accepted command to its sender, unless it is held.
  mutating func accept(_ id: CommandID, from sender: Sender, isHeld: Bool) {
    commands[id] = Command(sender: sender, isHeld: isHeld)
    if !isHeld { taken[sender, default: 0] += 1 }
  }

  /// Charges commands that are no longer held to their senders.
  mutating func release(_ ids: [CommandID]) {
    for id in ids {
      guard let command = commands[id], command.isHeld else { continue }
      commands[id]?.isHeld = false
      taken[command.sender, default: 0] += 1
    }
  }

  /// Frees the slot of a judged command.
  mutating func judge(_ id: CommandID) {
    guard let command = commands.removeValue(forKey: id), !command.isHeld else { return }
    let left = slots(of: command.sender) - 1
    taken[command.sender] = left > 0 ? left : nil
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    var slots: [Sender: Int] = [:]
    for command in commands.values where !command.isHeld { slots[command.sender, default: 0] += 1 }
    return (slots == taken ? [] : ["slots are miscounted"])
      + (devices.count <= Self.devicesMax ? [] : ["\(devices.count) devices have reserved slots"])
  }
}

/// Limits log notes about refused commands: one for the first refusal, and another after a minute without any.
struct BusyNotes: Sendable {
  private static let quiet = BusDuration.seconds(60)
  private var refusedAt: BusTime?

  /// Counts a refusal at a moment of real time and returns whether to log it.
  mutating func refuse(at now: BusTime) -> Bool {
    defer { refusedAt = now }
    return refusedAt.map { now - $0 >= Self.quiet } ?? true
  }
}
