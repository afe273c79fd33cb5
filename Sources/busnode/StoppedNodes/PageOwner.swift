import RunBus
import RunBusWeb
import RunRecordings

/// What the machine of the phone does for the page of a bus with records, whether the phone runs or not.
struct PageOwner: RecordOwner {
  private let location: BusLocation
  private let devices: LocalDevices

  init(of location: BusLocation) {
    self.location = location
    devices = LocalDevices(location: location)
  }

  var formats: [String] { ["gpx", "tcx", "json", "csv"] }

  func canChange() async -> Bool {
    if HubLock.holder(of: location) != nil { return true }
    return await phone() != nil
  }

  func unheard() async -> UnheardRecords {
    guard let list = await RecordCatalogue.list(ofStoppedPhoneOf: location) else { return UnheardRecords() }
    return UnheardRecords(
      removed: Set(list.removed.map(\.runID)).subtracting(list.kept.map(\.runID)), kept: list.kept)
  }

  func rename(_ run: RunID, to title: String) async throws {
    try await change(.editRecord(run, title: title, note: nil))
  }

  func remove(_ run: RunID) async throws {
    await BadgeBook.giveBeforeRemoval(on: location)
    try await change(.removeRecord(run))
  }

  func export(_ record: RunRecord, as format: String) throws -> String {
    switch format {
    case "gpx": try RecordExport.gpx(record)
    case "tcx": RecordExport.tcx(record)
    case "json": Output.json(record) + "\n"
    default: RecordExport.csv(record)
    }
  }

  /// The phone among the devices of this machine: only a phone answers the query for peers.
  private func phone() async -> DeviceID? {
    for device in (try? devices.all()) ?? [] {
      if await (try? devices.ask(.peers, of: device)) != nil { return device }
    }
    return nil
  }

  private func change(_ order: Question<Void>) async throws {
    guard let phone = await phone() else { throw RunBusError(.unreachable, "the phone's store does not answer") }
    do {
      try await devices.ask(order, of: phone)
    } catch let failure as Failure {
      throw RunBusError(.storeHeld, failure.message)
    }
  }
}
