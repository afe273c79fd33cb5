import ArgumentParser
import RunBus
import RunScripts

/// A kind of event, by its word in JSON.
enum EventWord: String, ExpressibleByArgument, CaseIterable {
  case snapshot, command, receipt, verdict, presence, message, room, cue
}

/// A span as an argument, zero included.
struct AgeArgument: ExpressibleByArgument {
  let span: BusDuration

  init?(argument: String) {
    guard let span = DurationText.parse(argument), span >= .zero else { return nil }
    self.span = span
  }
}

/// Which events `busnode monitor` shows.
struct EventFilter: Sendable {
  /// The kinds; empty for all.
  var words: Set<EventWord> = []
  /// The devices; empty for all.
  var devices: Set<DeviceID> = []
  /// How old a snapshot may be, in bus time; `nil` for any age.
  var ageMax: BusDuration?

  /// Whether an event is shown.
  func takes(_ event: BusEvent) -> Bool {
    if let ageMax, case .snapshot(let state) = event, state.age > ageMax { return false }
    guard words.isEmpty || event.word.map(words.contains) ?? false else { return false }
    return devices.isEmpty || !devices.isDisjoint(with: event.devices)
  }
}

extension BusEvent {
  /// Its kind; `nil` for what `busnode monitor` does not show.
  fileprivate var word: EventWord? {
    switch self {
    case .snapshot: .snapshot
    case .command: .command
    case .receipt(let receipt, _): if case .verdict = receipt.stage { .verdict } else { .receipt }
    case .presence: .presence
    case .message: .message
    case .room: .room
    case .cue: .cue
    case .route, .live: nil
    }
  }

  /// The devices that it is about. A snapshot is about the one that changed the run last.
  fileprivate var devices: Set<DeviceID> {
    switch self {
    case .snapshot(let state): Set([state.snapshot.changedBy?.deviceID].compactMap { $0 })
    case .command(_, let device), .receipt(_, let device): [device]
    case .presence(let presence): [presence.deviceID]
    case .message(let message): [message.from, message.to]
    case .room, .cue, .route, .live: []
    }
  }
}
