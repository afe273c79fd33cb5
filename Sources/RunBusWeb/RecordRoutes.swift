import Foundation
import RunBus

// What the page does with records: it reads them, and on the owner's machine it renames, removes and exports them.

/// What the page may do with records here.
struct OwnerJSON: Encodable {
  /// Whether runs can be renamed and removed.
  var canChange: Bool
  var formats: [String]
}

struct RecordsJSON: Encodable { var records: [RecordSummary] }

/// The body of `POST /api/records/ID/title`.
struct TitleJSON: Codable { var title: String }

/// The body of `POST /api/records/ID/remove`: the run once more, so that nothing is removed by an address alone.
struct RemovalJSON: Codable { var runId: String }

extension Router {
  /// How long the answer to a change waits until the page's node has heard of it, so that the page then shows it.
  private static let hearingPatience = Duration.seconds(2)

  /// The answer to a GET below `/api/records/`.
  func recordAnswer(_ path: Substring, _ query: [String: String]) async throws -> WebResponse {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let run = RunID(String(parts[0])), let record = try await record(run) else { return notKept }
    switch parts.dropFirst() {
    case []:
      var shown = record
      shown.body.route = RouteThinning.thinned(record.body.route, to: Self.recordPointsMax)
      return json(shown)
    case ["export"]: return await export(record, as: query["format"] ?? "")
    default: return refusal(404, "notFound", "there is nothing at this address")
    }
  }

  /// The answer to a POST below `/api/records/`.
  func recordChange(_ path: Substring, _ body: Data) async throws -> WebResponse {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, ["title", "remove"].contains(parts[1]) else {
      return refusal(404, "notFound", "nothing is posted to this address")
    }
    guard let owner, await owner.canChange() else {
      return refusal(
        403, "notOwner", "runs are renamed and deleted on the machine of the phone: this one has only copies of them")
    }
    guard let run = RunID(String(parts[0])), let record = try await record(run) else { return notKept }
    if parts[1] == "title" {
      guard let title = try? JSONDecoder().decode(TitleJSON.self, from: body).title else {
        return refusal(400, "badInput", "a title is {\"title\": \"text\"}")
      }
      guard title.utf8.count <= RecordSummary.titleBytesMax else {
        return refusal(400, "badInput", "a title has at most \(RecordSummary.titleBytesMax) bytes")
      }
      try await heard({ $0.first { $0.runID == run }?.title == title }) { try await owner.rename(run, to: title) }
      return json(TitleJSON(title: title))
    }
    guard let stated = try? JSONDecoder().decode(RemovalJSON.self, from: body).runId, RunID(stated) == record.runID
    else { return refusal(400, "badInput", "a removal is {\"runId\": \"the id of the run\"}") }
    try await heard({ !$0.contains { $0.runID == run } }) { try await owner.remove(run) }
    return json(RemovalJSON(runId: stated))
  }

  /// What the page may do with records here.
  func ownerAnswer() async -> WebResponse {
    let canChange = await owner?.canChange() ?? false
    return json(OwnerJSON(canChange: canChange, formats: canChange ? owner?.formats ?? [] : []))
  }

  /// The records that the node keeps, as the phone has them.
  func records() async throws -> [RecordSummary] {
    let (kept, unheard) = (try await node.records.list(), await owner?.unheard() ?? UnheardRecords())
    return kept.compactMap(unheard.newest)
  }

  private func record(_ run: RunID) async throws -> RunRecord? {
    let unheard = await owner?.unheard() ?? UnheardRecords()
    guard var record = try await node.records.record(of: run), let summary = unheard.newest(record.summary) else {
      return nil
    }
    (record.summary.title, record.summary.note) = (summary.title, summary.note)
    return record
  }

  /// Makes a change and waits until the page would show it. A node that does not hear of it soon is not waited for.
  private func heard(
    _ isThere: @escaping @Sendable ([RecordSummary]) -> Bool, _ change: () async throws -> Void
  ) async throws {
    let news = node.records.news()
    try await change()
    _ = try? await within(Self.hearingPatience) {
      if isThere(try await records()) { return }
      for await _ in news where isThere(try await records()) { return }
    }
  }

  private func export(_ record: RunRecord, as format: String) async -> WebResponse {
    guard let owner, await owner.canChange() else {
      return refusal(
        403, "notOwner", "the page exports runs on the machine of the phone; here busnode records export does")
    }
    guard owner.formats.contains(format) else {
      return refusal(400, "badInput", "format is one of \(owner.formats.joined(separator: ", "))")
    }
    do {
      var answer = response(200, Data(try owner.export(record, as: format).utf8), Self.types[format] ?? "text/plain")
      let name = "run-\(record.runID.description.prefix(8)).\(format)"
      answer.headers.append(("Content-Disposition", "attachment; filename=\"\(name)\""))
      return answer
    } catch {
      return refusal(422, "badInput", (error as? RunBusError)?.message ?? "this run cannot be written as \(format)")
    }
  }

  private var notKept: WebResponse { refusal(404, "notFound", "no such run is kept here") }

  private static let types = [
    "gpx": "application/gpx+xml", "tcx": "application/vnd.garmin.tcx+xml", "json": "application/json",
    "csv": "text/csv; charset=utf-8",
  ]
}
