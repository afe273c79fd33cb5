/// What a paired device does that costs its hub something. Each kind has a pace of its own, and this is the one table of
/// them; docs/security.md shows it.
///
/// What may come at once is what a device sends at once when it returns: all its commands, and of readings and messages
/// as many as may be unacknowledged. What may come each second afterwards is far above what a person, a sensor or a
/// link produces, and costs a hub a few percent of its time. Beyond a pace nothing is lost that has to arrive: its
/// sender keeps it and sends it again.
package enum PacedKind: String, CaseIterable, Sendable {
  /// Frames of any kind, before they are read: one for each 512 bytes that are begun.
  case frames
  /// Hellos, each of which can bring a new store, which is a write.
  case hellos
  /// Commands.
  case commands
  /// Readings that are new to the hub.
  case readings
  /// Messages of an app, newest values, live messages and tombstones.
  case messages
  /// Questions and requests to send again. One that makes the hub fold a part of the run again counts more than once.
  case questions
  /// Parts of records.
  case recordParts = "parts of records"
  /// Announcements of another key: each changes the list of devices.
  case newKeys = "announced keys"
  /// Subscriptions to topics that do not exist.
  case unknownTopics = "subscriptions to unknown topics"
  /// Messages of more parts than a frame has, or without an end.
  case manyParts = "messages of many parts"

  /// How many are accepted at once from a device that was quiet.
  package var burst: Int {
    switch self {
    // 4 MiB: all that may be unacknowledged of each stream.
    case .frames: 8192
    // A link that comes and goes, and the shells of a machine.
    case .hellos: 32
    case .commands: OutboundStream.Bounds.commands.rowsMax
    // Two hours of one a second. All that an outbox holds, ten hours, takes a minute.
    case .readings: OutboundStream.Bounds.samples.flightMax
    case .messages: OutboundStream.Bounds.messages.flightMax
    // The route of ten hours, and some.
    case .questions: 128
    // Some hundred records.
    case .recordParts: 4096
    case .newKeys: 8
    // A later version may have more topics.
    case .unknownTopics: 256
    // No version sends one.
    case .manyParts: 2
    }
  }

  /// How many more are accepted each second, real time.
  package var perSecond: Double {
    switch self {
    case .frames: 1000
    case .hellos, .unknownTopics: 1
    case .commands, .questions: 20
    case .readings: 500
    case .messages: 200
    case .recordParts: 100
    case .newKeys: 1 / 60
    case .manyParts: 1 / 600
    }
  }

  /// The refusal message for what is beyond the pace.
  var refusal: String {
    let rate = perSecond >= 1 ? "\(Int(perSecond)) a second" : "one in \(Int((1 / perSecond).rounded())) seconds"
    return "too many \(rawValue): \(burst) come at once from a device, and then \(rate); come again later"
  }

  /// How many entries of a run are folded again for what one question costs otherwise.
  static let entriesOfQuestion = 1024
  /// How many bytes of a frame count as one.
  package static let bytesOfFrame = 512
}

/// The paces of the devices of keys. Other identities have none: a process of this machine's user can do as it likes.
struct Paces: Sendable {
  private var paces = Dictionary(
    uniqueKeysWithValues: PacedKind.allCases.map { ($0, Pace<DeviceID>(burst: $0.burst, perSecond: $0.perSecond)) })

  /// Whether a device may do one thing more, at a moment of real time. What it may not does not count.
  mutating func admits(_ kind: PacedKind, _ device: DeviceID, cost: Int = 1, at now: BusTime) -> Bool {
    paces[kind]?.admits(device, cost: cost, at: now) ?? true
  }

  /// Forgets a device that is not paired any more.
  mutating func forget(_ device: DeviceID) { for kind in PacedKind.allCases { paces[kind]?.forget(device) } }
}

/// Holds each of many subjects to a pace: so many events at once, and then so many a second.
package struct Pace<Subject: Hashable & Sendable>: Sendable {
  private let burst: Double
  private let perSecond: Double
  private var allowances: [Subject: (count: Double, at: BusTime)] = [:]

  /// A pace for subjects that have done nothing yet.
  package init(burst: Int, perSecond: Double) { (self.burst, self.perSecond) = (Double(burst), perSecond) }

  /// Whether one more event of a subject is within the pace. One that is not does not count.
  ///
  /// - Parameters:
  ///   - cost: for how many events it counts. One that costs more than the burst is admitted when nothing came before it.
  ///   - now: real time.
  package mutating func admits(_ subject: Subject, cost: Int = 1, at now: BusTime) -> Bool {
    let known = allowances[subject] ?? (burst, now)
    let count = min(burst, known.count + max(0, (now - known.at).seconds) * perSecond)
    let cost = min(burst, Double(cost))
    let isAdmitted = count >= cost
    allowances[subject] = (isAdmitted ? count - cost : count, now)
    return isAdmitted
  }

  /// Forgets what a subject has done.
  mutating func forget(_ subject: Subject) { allowances[subject] = nil }
}
