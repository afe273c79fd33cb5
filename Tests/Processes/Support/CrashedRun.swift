import Foundation
import RunBus
import TestSupport

/// The result of a run whose phone was killed: the output of the command, and the contents of the phone's store.
struct CrashedRun: Sendable {
  /// A transition or a lap with its time in the run.
  struct Mark: Hashable, Sendable {
    let kind: CommandKind
    /// `nil` for a lap.
    let revision: UInt64?
    let offset: BusDuration
  }
  /// A reading with its time in the run.
  struct Reading: Hashable, Sendable {
    let offset: BusDuration
    let value: SampleValue
  }

  /// `busnode state --splits --json`.
  let state: JSONValue
  /// `busnode route --json`.
  let route: [JSONValue]
  /// The number of records.
  let records: Int
  /// `busnode records export --format json`.
  let record: JSONValue
  /// The verdicts that the watch told.
  let verdicts: [JSONValue]
  let lives: [CrashCampaign.Life]
  private(set) var marks: [Mark] = []
  private(set) var readings: [Reading] = []
  /// The gaps in order, in run time.
  private(set) var gaps: [(from: BusDuration, length: BusDuration)] = []
  private let speed: Int64
  private let origin: BusTime
  private let clock: ClockMark

  /// Reads the phone's store, which no process has open any more.
  init(
    state: JSONValue, route: [JSONValue], records: Int, record: JSONValue, verdicts: [JSONValue],
    lives: [CrashCampaign.Life], speed: Int64,
    store path: String
  ) throws {
    (self.state, self.route, self.records, self.record) = (state, route, records, record)
    (self.verdicts, self.lives, self.speed) = (verdicts, lives, speed)
    let store = try NodeStore(directory: path)
    let history = try store.history()
    store.close()
    guard store.notices.isEmpty else { throw DeadlineMissed(what: "a store without holes: \(store.notices)") }
    let start = history.journal.first { if case .transition = $0.event { true } else { false } }
    guard let start, let clock = history.clock else { throw DeadlineMissed(what: "a run in the phone's store") }
    (origin, self.clock) = (start.time, clock)
    for entry in history.journal.sorted(by: LedgerEntry.precedes) {
      let offset = entry.time - origin
      switch entry.event {
      case .transition(let transition):
        marks.append(Mark(kind: transition.kind, revision: transition.revision, offset: offset))
      case .lap: marks.append(Mark(kind: .lap, revision: nil, offset: offset))
      case .sample(let value, _): readings.append(Reading(offset: offset, value: value))
      case .gap(let length): gaps.append((offset, length))
      case .setup: break
      }
    }
  }

  /// How often the phone was killed.
  var crashes: Int { lives.count { $0.killedAt != nil } }

  /// Run time at a reading of the machine's monotonic clock, which all incarnations of the phone share.
  func runTime(at real: BusTime) -> BusDuration {
    BusDuration(nanoseconds: (clock.bus - origin).nanoseconds + (real - clock.real).nanoseconds * speed)
  }

  /// The part of the gaps in which the run was running.
  var activeDowntime: BusDuration {
    var (total, from) = (BusDuration.zero, BusDuration?.none)
    for mark in marks where mark.revision != nil {
      if let start = from {
        for gap in gaps {
          let overlap = min(gap.from + gap.length, mark.offset) - max(gap.from, start)
          total += max(.zero, overlap)
        }
      }
      from = mark.kind == .start || mark.kind == .resume ? mark.offset : nil
    }
    return total
  }

  /// The command's output about the run and its record, without ids of this run, its commands and its hub.
  var told: [String: JSONValue] {
    var told: [String: JSONValue] = ["revision": state["revision"] ?? .null, "phase": state["phase"] ?? .null]
    for part in ["metrics", "report"] {
      for (key, value) in state[part]?.object ?? [:] { told["\(part).\(key)"] = value }
    }
    told["records"] = .number(Double(records))
    for (key, value) in record.object ?? [:] where key != "summary" { told["record.\(key)"] = value }
    for (key, value) in record["summary"]?.object ?? [:]
    where !["runId", "version", "startedAt", "startedAtUnixSeconds"].contains(key) {
      told["record.summary.\(key)"] = value
    }
    told["route.count"] = .number(Double(route.count))
    for (index, point) in route.enumerated() {
      var fields = point.object ?? [:]
      fields["runId"] = nil
      told["route.\(index)"] = .object(fields)
    }
    return told
  }
}
