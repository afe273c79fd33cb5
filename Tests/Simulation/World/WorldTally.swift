import RunCore

/// How often each thing happened, so that a campaign shows that it has seen what it claims to check.
package struct WorldTally: Sendable {
  package private(set) var counts: [String: Int] = [:]

  mutating func count(_ name: String) { counts[name, default: 0] += 1 }
  package init() {}
  package mutating func add(_ other: WorldTally) { counts.merge(other.counts, uniquingKeysWith: +) }

  mutating func count(_ stage: DeliveryStage, of deliveryClass: DeliveryClass) {
    let name =
      switch deliveryClass {
      case .live: "live"
      case .latest: "latest"
      case .queued: "queued message"
      }
    switch stage {
    case .sent: count("\(name) sent")
    case .queued: count("\(name) queued")
    case .delivered: count("\(name) delivered")
    case .processed: count("\(name) processed")
    case .replaced: count("\(name) replaced")
    case .rejected(let reason): count("\(name) \(reason.code)")
    }
  }

  mutating func count(_ verdict: Verdict) {
    switch verdict.outcome {
    case .applied: count("applied")
    case .coalesced: count("coalesced")
    case .superseded: count("superseded")
    case .rejected(let reason): count(reason.code)
    case .unknown: count("unknown")
    }
  }

  /// Everything that the default campaign must have seen at least once.
  package static let expected = [
    // What goes wrong.
    "hub crash", "hub reboot", "peer crash", "peer reboot", "month", "commit failed", "commit kept by a crash",
    "commit lost by a crash", "slow commit", "frame to the hub lost", "frame to a peer lost",
    "frame to the hub refused",
    "frame to a peer refused", "frame twice", "hello twice", "publication lost", "link lost", "link half open",
    "deaf for a while", "mute for a while", "handler threw", "handler took its node down", "handler was late",
    "handler went away", "reader changed", "hub's store deleted", "hub's store restored", "peer's store deleted",
    "peer's store restored", "peer began anew", "hub went off duty", "goodbye of the hub", "hub lost",
    "push phase", "push final", "push numbers", "push pending", "push alive", "hung", "disk full", "clogged",
    "wall clock set", "other wall clocks", "conflict",
    "recovery asked", "recovery finished", "recovery discarded",
    "command of an unknown kind", "reading of an unknown kind", "frame of an unknown kind",
    "verdict of an unknown kind",
    // What is done.
    "press offline", "burst", "run out of reach", "whole run", "record", "record anew", "record edited",
    "record removed", "record at a peer", "record anew at a peer", "record removed at a peer",
    "spooled", "spooled at several nodes", "spool settled", "request",
    "shell", "shell told", "shell answered", "cancelled a command", "cancelled a message",
    "could not be cancelled",
    // What comes of it.
    "applied", "coalesced", "superseded", "illegal", "otherRun", "staleRevision", "tooOld", "cancelled", "expired",
    "revisionChanged",
    "command queued", "command pending", "command judged", "live sent", "queued message queued",
    "queued message delivered", "queued message processed", "queued message cancelled", "queued message quarantined",
    "latest queued", "latest replaced", "latest processed", "post refused",
    "clock compared", "clock compared while it stands", "clock while a commit is under way", "goal compared",
    "record with a goal",
  ]
}
