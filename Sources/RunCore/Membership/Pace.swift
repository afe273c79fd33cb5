/// How fast a paired device may press. A device that was away may deliver a whole outbox at once; after that it is held
/// to a pace that no thumb reaches. Beyond it the device is told to come again later, and no other device notices.
enum CommandPace {
  /// How many commands of a device are accepted at once: as many as an outbox holds.
  static let burst = 1024
  /// How many more are accepted each second, real time.
  static let perSecond = 20
}

/// Holds each of many subjects to a pace: so many events at once, and then so many a second.
package struct Pace<Subject: Hashable & Sendable>: Sendable {
  private let burst: Double
  private let perSecond: Double
  private var allowances: [Subject: (count: Double, at: BusTime)] = [:]

  /// A pace for subjects that have done nothing yet.
  package init(burst: Int, perSecond: Int) { (self.burst, self.perSecond) = (Double(burst), Double(perSecond)) }

  /// Whether one more event of a subject is within the pace. One that is not does not count.
  ///
  /// - Parameter now: real time.
  package mutating func admits(_ subject: Subject, at now: BusTime) -> Bool {
    let known = allowances[subject] ?? (burst, now)
    let count = min(burst, known.count + max(0, (now - known.at).seconds) * perSecond)
    let isAdmitted = count >= 1
    allowances[subject] = (isAdmitted ? count - 1 : count, now)
    return isAdmitted
  }
}
