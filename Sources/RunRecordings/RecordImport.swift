package import RunBus
package import RunCore

/// Makes records from files of other programs.
package enum RecordImport {
  /// The device name in imported records.
  package static let device = RecordSummary.importDevice

  /// A run of a document as a record, and a sentence for each kind of thing that was left out or is doubtful.
  package typealias ImportedRun = (record: RunRecord, warnings: [String])

  /// Makes records from all runs of a GPX, TCX or FIT document, measured like a replay.
  ///
  /// The run id follows from the content, so that importing a document twice gives one record. A document that
  /// ``RecordExport`` wrote keeps the id and the title of its run, even an empty title.
  ///
  /// - Parameters:
  ///   - document: The bytes of the file.
  ///   - name: The title if the document has none, usually the file's name.
  ///   - path: The name of the document in messages; `name` by default.
  ///   - run: Which run of a document with several, from 1; `nil` for all.
  ///   - settings: The runner's weight and other settings of the computation.
  /// - Returns: One run at least, in the order of the document.
  /// - Throws: ``RunBusError/Code/badInput`` for a document that cannot be read or holds no run.
  package static func records(
    of document: [UInt8], name: String, path: String? = nil, run: Int? = nil,
    settings: MetricsSettings = MetricsSettings()
  ) throws(RunBusError) -> [ImportedRun] {
    let path = path ?? name
    // Check the size first, because the search for the id reads the whole document.
    let ownID = document.count <= Recording.bytesMax ? runID(in: document) : nil
    let recordings = try Recording.runs(of: document, name: ownID == nil ? name : "", path: path)
    var chosen = recordings
    if let run { chosen = [try Recording.run(run, of: recordings, path: path)] }
    var records: [ImportedRun] = []
    for recording in chosen {
      records.append(try self.record(recording, recordings.count == 1 ? ownID : nil, path, settings))
    }
    return records
  }

  /// Makes a record from the first run of a document, as ``records(of:name:path:run:settings:)``.
  package static func record(
    of document: [UInt8], name: String, path: String? = nil, settings: MetricsSettings = MetricsSettings()
  ) throws(RunBusError) -> ImportedRun {
    var records = try records(of: document, name: name, path: path, settings: settings)
    if records.count > 1 {
      records[0].warnings.append("the file holds \(records.count) runs, and only the first is imported")
    }
    return records[0]
  }

  private static func record(
    _ recording: Recording, _ ownID: RunID?, _ path: String, _ settings: MetricsSettings
  ) throws(RunBusError) -> ImportedRun {
    guard let (body, bests) = RecordBody.made(of: recording.ledger(settings: settings), settings: settings) else {
      throw RunBusError(.badInput, "\(path): it contains no run")
    }
    var summary = RecordSummary(
      runID: ownID ?? runID(of: recording), version: 1, deviceID: device, hubDeviceID: device,
      appVersion: runBusVersion, startedAtUnixSeconds: Double(recording.startedAtUnixNanoseconds ?? 0) / 1e9,
      elapsed: .zero, active: .zero, setup: settings.setup, utcOffsetSeconds: recording.utcOffsetSeconds, bests: bests,
      title: text(recording.name, bytesMax: RecordSummary.titleBytesMax),
      note: text(recording.note, bytesMax: RecordSummary.noteBytesMax))
    summary.add(body.report.metrics)
    let notices = RunNotices.sentences(body.route, settings: settings)
    return (RunRecord(summary: summary, body: body), recording.warnings + notices)
  }

  /// The longest prefix of a text that fits into a number of bytes.
  private static func text(_ text: String, bytesMax: Int) -> String {
    var text = text
    while text.utf8.count > bytesMax { text.removeLast() }
    return text
  }

  /// The run id that an export of RunBus contains; `nil` in other documents.
  private static func runID(in document: [UInt8]) -> RunID? {
    let prefix = Array(RecordSummary.urnPrefix.utf8)
    guard let first = prefix.first else { return nil }
    var rest = document[...]
    while let place = rest.firstIndex(of: first) {
      rest = rest[place...]
      if rest.starts(with: prefix) {
        return RunID(String(decoding: rest.dropFirst(prefix.count).prefix(32), as: UTF8.self))
      }
      rest = rest.dropFirst()
    }
    return nil
  }

  /// The FNV-1a hash of all readings, pauses and laps in 128 bits. It is not secure, which is enough for files of the
  /// user's own.
  private static func runID(of recording: Recording) -> RunID {
    var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    func add(_ value: UInt64) {
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        hash = (hash ^ UInt128((value >> shift) & 0xFF)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B
      }
    }
    add(UInt64(bitPattern: recording.startedAtUnixNanoseconds ?? 0))
    for sample in recording.samples {
      add(UInt64(bitPattern: sample.offset.nanoseconds))
      switch sample.value {
      case .position(let position):
        add(position.latitude.bitPattern)
        add(position.longitude.bitPattern)
      case .altitude(let value, _), .heartRate(let value), .cadence(let value), .pedometer(let value):
        add(value.bitPattern)
      case .motion: break
      }
    }
    // The same points with other pauses or laps are another run.
    for stop in recording.timerStops {
      add(UInt64(bitPattern: stop.pausedAt.nanoseconds))
      add(UInt64(bitPattern: stop.resumedAt.nanoseconds))
    }
    for mark in recording.lapMarks { add(UInt64(bitPattern: mark.nanoseconds)) }
    return RunID(high: UInt64(truncatingIfNeeded: hash >> 64), low: UInt64(truncatingIfNeeded: hash))
  }
}
