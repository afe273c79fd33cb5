import Foundation
import RunBus
import RunCore

/// The records of a bus on this machine: those of its hub and the copies of its peers, whether their nodes run or not. A
/// copy of a run that one of them knows to be removed is hidden. What the hub itself keeps is shown: a hub that was
/// restored from an older copy has its runs again.
struct RecordCatalogue {
  /// A record and the device that stores it.
  struct Entry {
    let device: DeviceID
    let summary: RecordSummary
  }

  private let devices: LocalDevices
  /// Every record once, in order of its start.
  private(set) var entries: [Entry] = []
  /// The hubs among the devices, by name. Only a hub accepts imported records.
  private(set) var hubs: [DeviceID] = []

  /// Asks every device of the bus, or `device` only.
  ///
  /// - Throws: ``Failure`` with 69 when no device keeps records, and with 75 when a store is held by a process that
  ///   does not answer.
  init(_ location: BusLocation, device: DeviceID? = nil) async throws {
    devices = LocalDevices(location: location)
    var found: [RunID: Entry] = [:]
    var removed: [RunID: UInt64] = [:]
    func note(_ removal: RecordRemoval) {
      removed[removal.runID] = max(removal.version, removed[removal.runID] ?? 0)
    }
    var isKept = false
    let all = try devices.all()
    if let device {
      // The other devices are asked for their removals only, and only those that answer at once are waited for.
      for removal in await Self.removals(of: all.filter { $0 != device }, devices) { note(removal) }
    }
    for node in all where device == nil || device == node {
      guard let (list, isHub) = try await Self.list(of: node, devices) else { continue }
      isKept = true
      if isHub { hubs.append(node) }
      for removal in list.removed { note(removal) }
      for summary in list.kept {
        if let known = found[summary.runID] {
          // The hub's own record wins over copies; among copies the newest version wins.
          let isKnownAtHub = hubs.contains(known.device)
          guard isHub == isKnownAtHub ? summary.version > known.summary.version : isHub else { continue }
        }
        found[summary.runID] = Entry(device: node, summary: summary)
      }
    }
    guard isKept else {
      let bus = location.displayName
      throw Failure(
        code: "noBus",
        message: device.map { Tongue.say(.keepsNoRecords, ["device": $0, "bus": bus]) }
          ?? Tongue.say(.nothingKept, ["bus": bus]),
        exitStatus: ExitStatus.noBus)
    }
    let isHidden = { [hubs, removed] (entry: Entry) in
      !hubs.contains(entry.device) && entry.summary.version <= removed[entry.summary.runID] ?? 0
    }
    entries = found.values.filter { !isHidden($0) }.sorted {
      ($0.summary.startedAtUnixSeconds, $0.summary.runID) < ($1.summary.startedAtUnixSeconds, $1.summary.runID)
    }
  }

  /// The records of a device, and whether it is a hub. Only a hub answers the query for peers.
  private static func list(
    of device: DeviceID, _ devices: LocalDevices
  ) async throws -> (list: (kept: [RecordSummary], removed: [RecordRemoval]), isHub: Bool)? {
    try await devices.converse(with: device) { node in
      guard let list = try await unlessRefused({ try await KeptRecords(node).list() }) else { return nil }
      return (list, try await unlessRefused { try await node.ask(.peers) } != nil)
    }
  }

  /// How long devices are waited for that were not asked about. A running node answers within milliseconds.
  private static let asidePatience = BusDuration.seconds(1)

  /// What devices know to be removed. They are asked at the same time, and those that do not answer at once are passed
  /// over.
  private static func removals(of others: [DeviceID], _ devices: LocalDevices) async -> [RecordRemoval] {
    await withTaskGroup(of: [RecordRemoval].self) { group in
      for other in others {
        group.addTask {
          let list = try? await within(Duration(Self.asidePatience)) { try await Self.list(of: other, devices) }
          return list??.list.removed ?? []
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// What a phone of this machine keeps and has removed while it does not run, so that its peers have not heard of it;
  /// `nil` when it runs, or when there is none.
  static func list(
    ofStoppedPhoneOf location: BusLocation
  ) async -> (kept: [RecordSummary], removed: [RecordRemoval])? {
    guard HubLock.holder(of: location) == nil else { return nil }
    let devices = LocalDevices(location: location)
    for device in (try? devices.all()) ?? [] {
      guard let (list, isHub) = try? await Self.list(of: device, devices), isHub else { continue }
      return list
    }
    return nil
  }

  /// The record whose id begins with `prefix`; without one, the last run.
  func entry(_ prefix: IDPrefix?) throws(Failure) -> Entry {
    guard let prefix else {
      guard let last = entries.last else {
        throw Failure(code: "unknownId", message: RecordText.noRuns, exitStatus: ExitStatus.failure)
      }
      return last
    }
    let id = try prefix.match(entries.map(\.summary.runID.description), where: Tongue.say(.thatIsKept))
    guard let entry = entries.first(where: { $0.summary.runID.description == id }) else {
      throw Failure(code: "unknownId", message: Tongue.say(.noRunKept, ["run": id]), exitStatus: ExitStatus.failure)
    }
    return entry
  }

  /// A record with its body.
  func record(_ entry: Entry) async throws -> RunRecord {
    try await devices.converse(with: entry.device) { try await KeptRecords($0).record(entry.summary) }
  }

  /// How many records are read while a stopped node's store is open: its node cannot start meanwhile.
  private static let readAtOnce = 16

  /// Reads records one after the other, and gives each to `body`, or why it cannot be read.
  func read(_ entries: [Entry], _ body: (Entry, Result<RunRecord, any Error>) throws -> Void) async throws {
    var rest = entries[...]
    while let device = rest.first?.device {
      let part = rest.prefix(Self.readAtOnce).prefix { $0.device == device }
      rest = rest.dropFirst(part.count)
      try await devices.converse(with: device) { node in
        for entry in part {
          let record: Result<RunRecord, any Error>
          do {
            record = .success(try await KeptRecords(node).record(entry.summary))
          } catch {
            record = .failure(error)
          }
          try body(entry, record)
        }
      }
    }
  }

  /// Edits or removes a record.
  func change(_ order: Question<Void>, of entry: Entry) async throws {
    try await refusing(code: "failure") { try await devices.ask(order, of: entry.device) }
  }

  /// Gives a record to the hub on this machine, in parts.
  ///
  /// - Returns: Whether the hub had the record already.
  /// - Throws: ``Failure`` with 65 when the hub refuses the record, and with 69 when no hub has run on this machine.
  func put(_ record: RunRecord) async throws -> Bool {
    guard let hub = hubs.first else {
      throw Failure(
        code: "noBus",
        message: Tongue.say(.importNeedsPhone),
        exitStatus: ExitStatus.noBus)
    }
    do {
      return try await devices.converse(with: hub) { try await KeptRecords($0).put(record) }
    } catch let error as RunBusError {
      throw Failure(error)
    }
  }
}
