// The binary form of a record, the same on disk and on the wire. docs/protocol.md describes it.
extension RunRecord {
  /// The longest encoded record; a day with ten fixes a second is shorter.
  public static let bytesMax = 64 << 20
  /// The first byte of an encoded summary and of an encoded body: the version of their form.
  static let form: UInt8 = 1
  /// The form of a summary with a UTC offset or bests.
  static let summaryForm: UInt8 = 2
  /// The form of a summary with a goal.
  static let goalForm: UInt8 = 3
  /// The form of a body whose series is longer than earlier versions read.
  static let longBodyForm: UInt8 = 2

  /// The encoded record: the length of the summary, the summary, the body.
  public var encoded: [UInt8] {
    var writer = RecordWriter()
    let summary = summary.encoded
    writer.append(count: UInt64(summary.count))
    return writer.bytes + summary + body.encoded
  }

  /// Decodes a record; `nil` when the bytes are not one.
  public init?(encoded bytes: [UInt8]) {
    guard bytes.count <= Self.bytesMax else { return nil }
    var reader = RecordReader(bytes.prefix(10))
    let length = reader.count()
    guard reader.isGood else { return nil }
    var writer = RecordWriter()
    writer.append(count: length)
    let rest = bytes.dropFirst(writer.bytes.count)
    guard length <= UInt64(rest.count), let summary = RecordSummary(encoded: Array(rest.prefix(Int(length)))),
      let body = RecordBody(encoded: Array(rest.dropFirst(Int(length))))
    else { return nil }
    self.init(summary: summary, body: body)
  }
}

extension RecordSummary {
  /// The encoded summary.
  public var encoded: [UInt8] {
    var writer = RecordWriter()
    // The lowest form that holds the summary, so that earlier versions can read it.
    let form =
      if goal != nil { RunRecord.goalForm } else {
        utcOffsetSeconds == nil && bests.isEmpty ? RunRecord.form : RunRecord.summaryForm
      }
    writer.append(form)
    writer.append(runID)
    writer.append(count: version)
    writer.append(deviceID.rawValue)
    writer.append(hubDeviceID.rawValue)
    writer.append(appVersion)
    writer.append(startedAtUnixSeconds)
    writer.append(elapsed)
    writer.append(active)
    for value in [distanceMeters, elevationGainMeters, averageHeartRateBpm, energyJoules] { writer.append(value) }
    writer.append(setup.weightKilograms)
    writer.append(setup.isAutoPauseOn)
    writer.append(setup.usesPedometer)
    writer.append(isConflicted)
    writer.append(title)
    writer.append(note)
    guard form != RunRecord.form else { return writer.bytes }
    writer.append(optional: utcOffsetSeconds) { $0.append(signed: Int64($1)) }
    writer.append(list: bests) {
      $0.append($1.distanceMeters)
      $0.append($1.active)
      $0.append($1.startedAt)
    }
    if let goal { writer.append(goal.time) }
    return writer.bytes
  }

  /// Decodes a summary; `nil` when the bytes are not one.
  public init?(encoded bytes: [UInt8]) {
    var reader = RecordReader(bytes[...])
    let form = reader.byte()
    guard [RunRecord.form, RunRecord.summaryForm, RunRecord.goalForm].contains(form) else { return nil }
    let runID: RunID = reader.identifier()
    let version = reader.count()
    guard let deviceID = DeviceID(reader.text(bytesMax: 32)), let hubDeviceID = DeviceID(reader.text(bytesMax: 32))
    else { return nil }
    self.init(
      runID: runID, version: version, deviceID: deviceID, hubDeviceID: hubDeviceID,
      appVersion: reader.text(bytesMax: Self.appVersionBytesMax), startedAtUnixSeconds: reader.double(),
      elapsed: reader.span(), active: reader.span(), distanceMeters: reader.optionalDouble(),
      elevationGainMeters: reader.optionalDouble(), averageHeartRateBpm: reader.optionalDouble(),
      energyJoules: reader.optionalDouble(),
      setup: RunSetup(
        weightKilograms: reader.optionalDouble(), isAutoPauseOn: reader.flag(), usesPedometer: reader.flag()),
      isConflicted: reader.flag(),
      title: reader.text(bytesMax: Self.titleBytesMax), note: reader.text(bytesMax: Self.noteBytesMax))
    if form != RunRecord.form {
      utcOffsetSeconds = reader.optional { Int(clamping: $0.signed()) }
      bests = reader.list {
        RunBest(distanceMeters: $0.double(), active: $0.span(), startedAt: $0.span())
      }
    }
    if form == RunRecord.goalForm {
      goal = RunGoal(time: reader.span())
      if goal == nil { reader.fail() }
    }
    guard reader.isDone, version > 0, bests.count <= RunBest.countMax else { return nil }
  }
}

extension RecordBody {
  /// The encoded body; a point of the route takes about 45 bytes.
  public var encoded: [UInt8] {
    var writer = RecordWriter()
    let isLong = series.samples.count > RecordSeries.samplesMaxOfFirstForm + 1
    writer.append(isLong ? RunRecord.longBodyForm : RunRecord.form)
    writer.append(report)
    writer.append(list: pauses) {
      $0.append($1.startedAt)
      $0.append($1.endedAt)
    }
    writer.append(series)
    writer.append(route)
    return writer.bytes
  }

  /// Decodes a body; `nil` when the bytes are not one.
  public init?(encoded bytes: [UInt8]) {
    var reader = RecordReader(bytes[...])
    let form = reader.byte()
    guard form == RunRecord.form || form == RunRecord.longBodyForm else { return nil }
    self.init(
      report: reader.report(), pauses: reader.list { RunPause(startedAt: $0.span(), endedAt: $0.span()) },
      series: reader.series(), route: reader.route())
    let samplesMax =
      form == RunRecord.form ? RecordSeries.samplesMaxOfFirstForm : RecordSeries.samplesMax
    guard reader.isDone, series.samples.count <= samplesMax + 1 else { return nil }
  }
}

extension RecordWriter {
  fileprivate mutating func append(_ report: RunReport) {
    append(report.metrics)
    for splits in [report.kilometers, report.miles, report.laps] { append(list: splits) { $0.append($1) } }
    append(list: report.stretches) { writer, stretch in
      writer.append(code(stretch.source))
      writer.append(stretch.startedAt)
      writer.append(stretch.endedAt)
      writer.append(stretch.meters)
    }
  }

  private mutating func append(_ split: Split) {
    append(count: UInt64(max(0, split.number)))
    append(split.distanceMeters)
    append(split.active)
    append(split.startedAt)
    append(split.endedAt)
    append(split.averageHeartRateBpm)
    append(split.elevationGainMeters)
    append(split.elevationLossMeters)
    append(split.isComplete)
  }

  private mutating func append(_ metrics: RunMetrics) {
    append(metrics.elapsed)
    append(metrics.active)
    for field in RunMetrics.numbers { append(metrics[keyPath: field]) }
    append(code(metrics.activity))
    append(metrics.isActivityInferred)
    append(metrics.isAutoPaused)
    append(count: UInt64(max(0, metrics.lapCount)))
    for field in MetricMoments.all { append(metrics.moments[keyPath: field]) }
  }

  /// Writes values in hundredths, as differences from the last known value.
  fileprivate mutating func append(_ series: RecordSeries) {
    append(series.interval)
    append(count: UInt64(series.samples.count))
    var last = [Int64](repeating: 0, count: RecordSeries.Sample.values.count)
    for sample in series.samples {
      let values = RecordSeries.Sample.values.map { sample[keyPath: $0].map { Int64(($0 * 100).rounded()) } }
      append(values.enumerated().reduce(UInt8(0)) { $1.element == nil ? $0 : $0 | 1 << UInt8($1.offset) })
      for (index, value) in values.enumerated() {
        guard let value else { continue }
        append(signed: value - last[index])
        last[index] = value
      }
    }
  }

  fileprivate mutating func append(_ route: [RoutePoint]) {
    append(count: UInt64(route.count))
    var last = BusDuration.zero
    for point in route {
      let optionals = [point.position.horizontalAccuracyMeters, point.altitudeMeters, point.distanceMeters]
      let flags = optionals.enumerated().reduce(UInt8(0)) { $1.element == nil ? $0 : $0 | 1 << UInt8($1.offset) }
      append(flags << 4 | code(point.verdict))
      append(point.offset - last)
      last = point.offset
      append(point.position.latitude)
      append(point.position.longitude)
      for case let value? in optionals { append(value) }
    }
  }
}

extension RecordReader {
  fileprivate mutating func report() -> RunReport {
    RunReport(
      metrics: metrics(), kilometers: list { $0.split() }, miles: list { $0.split() }, laps: list { $0.split() },
      stretches: list {
        DistanceStretch(
          source: $0.word(code, else: .unknown), startedAt: $0.span(), endedAt: $0.span(), meters: $0.double())
      })
  }

  private mutating func split() -> Split {
    Split(
      number: number(), distanceMeters: optionalDouble(), active: span(), startedAt: span(), endedAt: span(),
      averageHeartRateBpm: optionalDouble(), elevationGainMeters: optionalDouble(),
      elevationLossMeters: optionalDouble(), isComplete: flag())
  }

  private mutating func metrics() -> RunMetrics {
    var metrics = RunMetrics(elapsed: span(), active: span())
    for field in RunMetrics.numbers { metrics[keyPath: field] = optionalDouble() }
    metrics.activity = word(code, else: .unknown)
    metrics.isActivityInferred = flag()
    metrics.isAutoPaused = flag()
    metrics.lapCount = number()
    for field in MetricMoments.all { metrics.moments[keyPath: field] = optionalSpan() }
    return metrics
  }

  fileprivate mutating func series() -> RecordSeries {
    var series = RecordSeries(interval: span())
    if series.interval <= .zero { fail() }
    let fields = RecordSeries.Sample.values
    var last = [Int64](repeating: 0, count: fields.count)
    series.samples = list { reader in
      var sample = RecordSeries.Sample()
      let flags = reader.byte()
      for (index, field) in fields.enumerated() where flags & 1 << UInt8(index) != 0 {
        let (sum, overflow) = last[index].addingReportingOverflow(reader.signed())
        if overflow || abs(Double(sum)) > RecordSeries.Sample.valueMax * 100 { reader.fail() }
        last[index] = sum
        sample[keyPath: field] = Double(sum) / 100
      }
      return sample
    }
    return series
  }

  fileprivate mutating func route() -> [RoutePoint] {
    var last = BusDuration.zero
    return list { reader in
      let head = reader.byte()
      if head >> 4 > 7 { reader.fail() }
      last = last + reader.span()
      let (latitude, longitude) = (reader.double(), reader.double())
      func value(_ bit: UInt8) -> Double? { head >> 4 & bit != 0 ? reader.double() : nil }
      return RoutePoint(
        offset: last,
        position: Position(latitude: latitude, longitude: longitude, horizontalAccuracyMeters: value(1)),
        verdict: FixVerdict.allCases.first { code($0) == head & 0xF } ?? .unknown, altitudeMeters: value(2),
        distanceMeters: value(4))
    }
  }

  private mutating func number() -> Int {
    let value = count()
    if value > UInt64(Int32.max) { fail() }
    return isGood ? Int(value) : 0
  }

  /// Reads a code. One that this version does not know is read as `unknown`.
  private mutating func word<Word: CaseIterable>(_ code: (Word) -> UInt8, else unknown: Word) -> Word {
    let byte = byte()
    return Word.allCases.first { code($0) == byte } ?? unknown
  }
}

// The codes of enum cases and the order of fields are part of the format: codes are never reused, fields never moved.
private func code(_ source: DistanceSource) -> UInt8 {
  switch source {
  case .positions: 1
  case .pedometer: 2
  case .unknown: 0
  }
}
private func code(_ activity: MotionActivity) -> UInt8 {
  switch activity {
  case .walking: 1
  case .running: 2
  case .stationary: 3
  case .unknown: 4
  }
}
private func code(_ verdict: FixVerdict) -> UInt8 {
  switch verdict {
  case .counted: 1
  case .anchored: 2
  case .notRunning: 3
  case .autoPaused: 4
  case .invalid: 5
  case .inaccurate: 6
  case .stationary: 7
  case .impossibleSpeed: 8
  case .repeated: 9
  case .otherReceiver: 10
  case .unknown: 0
  }
}

extension RunMetrics {
  static var numbers: [WritableKeyPath<RunMetrics, Double?>] {
    let way: [WritableKeyPath<RunMetrics, Double?>] = [
      \.distanceMeters, \.pedometerMeters, \.currentPaceSecondsPerKilometer, \.averagePaceSecondsPerKilometer,
      \.bestPaceSecondsPerKilometer, \.worstPaceSecondsPerKilometer,
    ]
    let body: [WritableKeyPath<RunMetrics, Double?>] = [
      \.heartRateBpm, \.averageHeartRateBpm, \.maxHeartRateBpm, \.cadenceStepsPerMinute,
      \.averageCadenceStepsPerMinute, \.altitudeMeters, \.elevationGainMeters, \.elevationLossMeters, \.energyJoules,
      \.positionAccuracyMeters,
    ]
    return way + body
  }
}

extension MetricMoments {
  fileprivate static var all: [WritableKeyPath<MetricMoments, BusDuration?>] {
    [\.distance, \.position, \.heartRate, \.cadence, \.elevation, \.activity]
  }
}

extension RecordSeries.Sample {
  fileprivate static var values: [WritableKeyPath<RecordSeries.Sample, Double?>] {
    [\.distanceMeters, \.paceSecondsPerKilometer, \.altitudeMeters, \.heartRateBpm, \.cadenceStepsPerMinute]
  }
}
