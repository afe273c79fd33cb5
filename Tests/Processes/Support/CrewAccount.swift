import Foundation
import GRDB
import RunCore
import RunWire
import Testing
import TestSupport

@testable import RunBus

/// The result of a crew's work: checks what the nodes told their users against what the stores hold.
struct CrewAccount {
  /// The verdict of an accepted press, with its position in the order of judgement.
  private struct Judged {
    let verdict: Verdict
    let press: AcceptedCommand
    let position: Int64
  }

  private(set) var lost: [String] = []
  private(set) var doubled: [String] = []
  private(set) var outOfOrder: [String] = []
  /// Other violations.
  private(set) var wrong: [String] = []
  /// Verdicts by their outcome.
  private(set) var outcomes: [String: Int] = [:]
  private(set) var commands = 0
  /// Presses that a node refused without a promise.
  private(set) var turnedAway = 0
  /// How many commands of wrong members have a verdict, and how many are held.
  private(set) var wrongMembers = (judged: 0, held: 0)
  /// How often a device has reset its streams.
  private(set) var beganAnew = 0
  /// Presses without a told verdict, because their sender was killed just then.
  private(set) var untold: [String] = []

  private var judged: [CommandID: Judged] = [:]

  /// Promises of deleted stores, or of a hub whose store was deleted; they are not checked.
  private let forgiven: Set<String>
  /// Commands that honest nodes and shells were promised or told a verdict of; `nil` without wrong members.
  private let honest: Set<CommandID>?
  /// Whether a store was deleted, so that devices that had streams with it reset them.
  private let mayBeginAnew: Bool

  /// Reads the stores, which no process has open any more.
  ///
  /// Wrong members use the names and stores of honest devices, which may then have to reset their streams; the other
  /// checks are the same.
  init(
    _ crew: Crew, hubStore: String? = nil, forgiving: Set<String> = [], mayBeginAnew: Bool = false,
    hasWrongMembers: Bool = false
  ) throws {
    forgiven = forgiving
    self.mayBeginAnew = mayBeginAnew
    honest = hasWrongMembers ? crew.commandsThatWereTold : nil
    let hub = try DatabaseQueue(path: hubStore ?? crew.members[Crew.phone].store + "/node.sqlite")
    try hub.read { db in
      try readVerdicts(db)
      try readJournal(db)
      try readAccepted(db)
    }
    try hub.close()
    for member in crew.members {
      if !member.isPhone { try checkOutbox(of: member) }
      checkPromises(to: member)
    }
    for oneShot in crew.oneShots { checkPromise(to: oneShot) }
    checkOrder()
    checkSnapshots(crew.members.flatMap(\.lives))
    for member in crew.members {
      checkView(of: member)
      for life in member.lives { checkLockScreen(of: member.device, life) }
    }
  }

  /// The verdict of a press, if there is one.
  subscript(id: String) -> Verdict? { CommandID(id).flatMap { judged[$0]?.verdict } }

  // MARK: Reading the stores

  private mutating func readVerdicts(_ db: Database) throws {
    for row in try Row.fetchAll(db, sql: "SELECT * FROM verdicts ORDER BY position") {
      guard let bytes = try? row.sealed("verdict"), let (verdict, press, _) = try? Codec.verdict(bytes),
        let position = row.integer("position")
      else {
        wrong.append("a verdict cannot be read: \(row)")
        continue
      }
      if isHonest(verdict.commandID) {
        commands += 1
        outcomes[ReceiptWord(verdict).stage, default: 0] += 1
      } else {
        wrongMembers.judged += 1
      }
      let judgement = Judged(verdict: verdict, press: press, position: position)
      if let first = judged.updateValue(judgement, forKey: verdict.commandID) {
        doubled.append("\(verdict.kind) \(verdict.commandID): \(first.verdict) and \(verdict)")
      }
    }
  }

  private func isHonest(_ id: CommandID) -> Bool { honest?.contains(id) ?? true }

  /// Only held commands of wrong members may be without a verdict.
  private mutating func readAccepted(_ db: Database) throws {
    for row in try Row.fetchAll(db, sql: "SELECT * FROM accepted") {
      let accepted = (try? row.sealed("press")).flatMap { try? Codec.accepted($0) }
      if let accepted, !isHonest(accepted.press.command.id), accepted.admission == .held {
        wrongMembers.held += 1
      } else {
        wrong.append("an accepted press was not judged: \(accepted.map { "\($0.press)" } ?? "\(row)")")
      }
    }
  }

  /// Each applied command is in the journal once, and nothing else is; revisions have no gaps.
  private mutating func readJournal(_ db: Database) throws {
    var effects: [CommandID: Int] = [:]
    var revision: UInt64 = 0
    let devices = try JournalDevices.read(db).devices
    for row in try Row.fetchAll(db, sql: "SELECT kind, entry FROM journal ORDER BY position") {
      guard let kind: Int64? = row.optionalInteger("kind"), let bytes = try? row.sealed("entry"),
        let event = try? Codec.entry(bytes, device: { devices[$0] }).event,
        JournalKind.isConsistent(kind, with: event)
      else {
        wrong.append("an entry of the journal cannot be read: \(row)")
        continue
      }
      switch event {
      case .transition(let transition):
        effects[transition.change.commandID, default: 0] += 1
        guard kind == JournalKind.transition.rawValue else { break }
        if transition.revision != revision + 1 {
          wrong.append("revision \(transition.revision) follows \(revision) in the journal")
        }
        revision = transition.revision
      case .lap(let change): effects[change.commandID, default: 0] += 1
      case .gap, .sample, .setup: break
      }
    }
    for (id, count) in effects.sorted(by: { $0.key < $1.key }) {
      if count > 1 { doubled.append("\(id) stands in the journal \(count) times") }
      if judged[id]?.verdict.outcome != .applied {
        wrong.append("\(id) stands in the journal: \(judged[id].map { "\($0.verdict)" } ?? "it was not judged")")
      }
    }
    for (id, judgement) in judged.sorted(by: { $0.key < $1.key })
    where judgement.verdict.outcome == .applied && effects[id] == nil {
      lost.append("\(judgement.verdict.kind) \(id) was applied and does not stand in the journal")
    }
  }

  private mutating func checkOutbox(of member: Crew.Member) throws {
    let peer = try DatabaseQueue(path: member.store + "/node.sqlite")
    let waiting = try peer.read { db in
      try Row.fetchAll(db, sql: "SELECT item FROM outbox WHERE item IS NOT NULL").count { row in
        // What cannot be read may be a press.
        guard let item = try? Codec.item(try row.sealed("item")) else { return true }
        if case .command = item { return true }
        return false
      }
    }
    if waiting != 0 { wrong.append("\(waiting) presses are left in the outbox of \(member.device)") }
    try peer.close()
  }

  // MARK: Checks of what was told

  /// Checks the promises of a node: presses that it told as queued, or as pending on the phone.
  private mutating func checkPromises(to member: Crew.Member) {
    var told: Set<String> = []
    for line in member.lives.flatMap(\.view.json) where line["event"]?.string == "verdict" {
      if let id = line["commandId"]?.string, forgiven.contains(id) { continue }
      check(line, at: member.device)
      if let id = line["commandId"]?.string { told.insert(id) }
    }
    // A phone tells verdicts in the order in which it judges, so only the last of an incarnation can be untold.
    var lastTold: [UInt64: Int64] = [:]
    if member.isPhone {
      for judgement in told.compactMap({ CommandID($0).flatMap { judged[$0] } }) {
        lastTold[judgement.verdict.term] = max(lastTold[judgement.verdict.term] ?? 0, judgement.position)
      }
    }
    var last: (store: StoreID?, sequence: UInt64)?
    for life in member.lives {
      // A phone numbers its own presses from 1 in every incarnation.
      if member.isPhone { last = nil }
      for id in life.view.stages(member.promise).compactMap(\.string) where !forgiven.contains(id) {
        guard let judgement = CommandID(id).flatMap({ judged[$0] }) else {
          lost.append("\(id), pressed on \(member.device), has no verdict")
          continue
        }
        if !told.contains(id) {
          untold.append("\(member.device) \(judgement.verdict.kind) \(id)")
          let wasPassed = lastTold[judgement.verdict.term].map { $0 > judgement.position } ?? false
          if life === member.process || wasPassed {
            lost.append("the verdict of \(id) was not told to \(member.device)")
          }
        }
        let (store, sequence) = (judgement.press.store, judgement.press.sequence)
        if let last {
          if store != last.store {
            beganAnew += 1
            if !mayBeginAnew, honest == nil {
              wrong.append("\(member.device) began its streams anew: nobody had lost anything")
            }
          } else if member.isPhone ? sequence < last.sequence : sequence <= last.sequence {
            outOfOrder.append("\(member.device): \(id) has place \(sequence) after \(last.sequence)")
          }
        }
        last = (store, sequence)
      }
    }
  }

  /// Checks the promise of a shell by its exit status.
  private mutating func checkPromise(to oneShot: NodeProcess) {
    let view = oneShot.view
    switch view.ending {
    case .exited(let status) where [0, 3, 4, 5, 6].contains(status):
      guard let line = view.json.last, let id = line["commandId"]?.string.flatMap({ CommandID($0) }) else {
        wrong.append("a shell exited \(status) and said \(view.lines)")
        return
      }
      guard judged[id] != nil else {
        lost.append("\(id) of a shell that exited \(status) has no verdict")
        return
      }
      if status < 5 { check(line, at: "a shell") }
    default: wrong.append("a shell ended: \(String(describing: view.ending)) \(view.lines) \(view.errors)")
    }
  }

  /// Checks that a told verdict equals the one that the hub keeps.
  private mutating func check(_ line: JSONValue, at place: String) {
    guard let text = line["commandId"]?.string, let id = CommandID(text), let kept = judged[id] else {
      // Refused before anything was promised: no store keeps that.
      if line["reason"]?.string == "busy" {
        turnedAway += 1
      } else {
        wrong.append("\(place) was told of what nobody judged: \(line)")
      }
      return
    }
    let word = ReceiptWord(kept.verdict)
    if word != ReceiptWord(line) { wrong.append("\(place) was told \(ReceiptWord(line)), the hub keeps \(word)") }
  }

  // MARK: Checks of the order

  /// Checks that in a sender's stream press times do not go back, and no sequence number is used twice.
  private mutating func checkOrder() {
    // A phone numbers its presses from 1 in every incarnation, and a request has no stream.
    let numbered = judged.values.filter { $0.press.store != nil && isHonest($0.press.command.id) }
    let streams = Dictionary(grouping: numbered) { $0.press.store }
    for (_, presses) in streams {
      let order = presses.sorted { $0.press.sequence < $1.press.sequence }
      for (left, right) in zip(order, order.dropFirst()) {
        if left.press.sequence == right.press.sequence {
          doubled.append("\(left.press) and \(right.press) have one place")
        } else if right.press.pressedAt < left.press.pressedAt {
          outOfOrder.append("\(right.press) counts as pressed before \(left.press)")
        }
      }
    }
  }

  /// Checks that all snapshots of one revision and term are the same.
  private mutating func checkSnapshots(_ lives: [NodeProcess]) {
    var shown: [[Int]: Set<[JSONValue?]>] = [:]
    for life in lives {
      for snapshot in life.snapshots {
        let key = ["term", "revision"].map { snapshot[$0]?.int ?? -1 }
        shown[key, default: []].insert([snapshot["runId"], snapshot["phase"], snapshot["changedBy"]?["commandId"]])
      }
    }
    for (key, states) in shown where states.count > 1 { wrong.append("term, revision \(key) was shown as \(states)") }
  }

  /// Checks that a lock screen does not go back while its device is up.
  private mutating func checkLockScreen(of device: String, _ life: NodeProcess) {
    let orders = life.view.json.filter { $0["event"]?.string == "liveActivity" && $0["tick"]?.int != nil }.map(\.order)
    for (before, after) in zip(orders, orders.dropFirst()) where after.lexicographicallyPrecedes(before) {
      wrong.append("the lock screen of \(device) showed \(after) after \(before)")
    }
  }

  /// Checks that a node's view does not go back, and that no run reappears after another.
  private mutating func checkView(of member: Crew.Member) {
    var last: (order: [Int], run: String?) = ([], nil)
    var left: Set<String> = []
    for life in member.lives {
      // A new incarnation may show again what the last one showed.
      var isFirst = true
      for snapshot in life.snapshots {
        let goesOn = last.order.lexicographicallyPrecedes(snapshot.order) || isFirst && last.order == snapshot.order
        if !goesOn, !mayBeginAnew { wrong.append("\(member.device) showed \(snapshot.order) after \(last.order)") }
        isFirst = false
        let run = snapshot["runId"]?.string
        if let run, left.contains(run) { wrong.append("\(member.device) showed \(run) again, after another run") }
        if let before = last.run, before != run { left.insert(before) }
        last = (snapshot.order, run)
      }
    }
  }
}

extension Crew {
  /// The ids of all commands that a node or a shell has told anything about.
  fileprivate var commandsThatWereTold: Set<CommandID> {
    let processes = members.flatMap(\.lives) + oneShots
    let said = processes.flatMap(\.view.json).filter { $0["event"] == nil || $0["event"]?.string != "snapshot" }
    return Set(said.compactMap { $0["commandId"]?.string.flatMap { CommandID($0) } })
  }
}

/// A verdict in the form in which it is told, to compare it with the kept one.
private struct ReceiptWord: Hashable {
  let stage: String
  let revision: Int
  let run: String?
  let other: String?
  let reason: String?

  init(_ verdict: Verdict) {
    var (other, reason): (CommandID?, String?)
    switch verdict.outcome {
    case .applied: stage = "applied"
    case .coalesced(let into): (stage, other) = ("coalesced", into)
    case .superseded(let by): (stage, other) = ("superseded", by)
    case .rejected(let why): (stage, reason) = ("rejected", why.code)
    case .unknown: stage = "unknown"
    }
    revision = Int(verdict.revision)
    run = verdict.runID?.description
    self.other = other?.description
    self.reason = reason
  }

  init(_ line: JSONValue) {
    stage = line["receipt"]?.string ?? "nothing"
    revision = line["revision"]?.int ?? -1
    run = line["runId"]?.string
    other = line["coalescedInto"]?.string ?? line["supersededBy"]?.string
    reason = line["reason"]?.string
  }
}

extension CrewAccount {
  /// Expects that nothing was lost, doubled, or out of order; `note` describes the campaign.
  func expectAllIsWell(_ note: String = "", sourceLocation: SourceLocation = #_sourceLocation) {
    for (what, found) in [("lost", lost), ("doubled", doubled), ("out of order", outOfOrder), ("wrong", wrong)] {
      #expect(found.isEmpty, "\(note) \(what): \(found.prefix(5))", sourceLocation: sourceLocation)
    }
  }
}
