public import RunBus
public import RunCore

/// A format in which a record is given to other programs.
public enum RecordFormat: String, Hashable, Sendable, CaseIterable {
  /// GPX 1.1: the fixes that count, with altitude, heart rate and cadence.
  case gpx
  /// TCX: laps, pauses, altitude, distance, heart rate and cadence.
  case tcx
  /// Comma-separated values: a line for every fix, and for every sample of the series without one, with a header.
  case csv
}

extension NodeRecords {
  /// The record of a run as a file of another format.
  ///
  /// ```swift
  /// let gpx = try await hub.records.export(run, as: .gpx)
  /// try gpx.write(to: url, atomically: true, encoding: .utf8)
  /// ```
  ///
  /// - Throws: ``RunBusError/Code/notFound`` when this node keeps no record of the run, ``RunBusError/Code/badInput`` for
  ///   a run without positions as GPX, ``RunBusError/Code/store`` when the record cannot be read; otherwise as
  ///   ``RunBus/NodeRecords/record(of:)``.
  public func export(_ run: RunID, as format: RecordFormat) async throws -> String {
    guard let record = try await record(of: run) else {
      throw RunBusError(.notFound, "this node keeps no record of run \(run)")
    }
    return switch format {
    case .gpx: try RecordExport.gpx(record)
    case .tcx: RecordExport.tcx(record)
    case .csv: RecordExport.csv(record)
    }
  }
}

extension NodeRecords where Member == Hub {
  /// Keeps the first run of a GPX, TCX or FIT document as a record, measured like a replay.
  ///
  /// Importing a document twice gives one record. A document that RunBus exported keeps the id and title of its run.
  ///
  /// - Parameters:
  ///   - document: The bytes of the file, at most 64 MiB.
  ///   - name: The title if the document has none, usually the file's name.
  ///   - settings: The runner's weight and other settings of the computation.
  /// - Returns: The run, whether its record is new here, and a sentence for each kind of thing that was left out.
  /// - Throws: ``RunBusError/Code/badInput`` for a document that cannot be read or holds no run; otherwise as
  ///   ``RunBus/NodeRecords/add(_:)``.
  @discardableResult
  public func add(
    from document: [UInt8], named name: String, settings: MetricsSettings = MetricsSettings()
  ) async throws -> (run: RunID, isNew: Bool, warnings: [String]) {
    let (record, warnings) = try RecordImport.record(of: document, name: name, settings: settings)
    return (record.runID, try await add(record), warnings)
  }
}
