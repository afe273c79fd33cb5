/// Gathers received samples until they are committed together, and bounds how many readings a run can get.
struct SampleIntake: Sendable {
  /// A batch with this many writes is committed early.
  private static let operationsMax = 4096

  private struct Batch: Sendable {
    var operations: [StoreOperation] = []
    var streams: [StreamID: UInt64] = [:]
    var deadline: BusTime?
    var isAmendment = false
  }
  private var batch = Batch()
  /// How many readings this incarnation has accepted of each run but the present one.
  private var pastReadings: [RunID: Int] = [:]
  /// The run that was last reported as full. Each is reported once.
  private var fullRun: RunID?

  /// When the batch is to be committed.
  var deadline: BusTime? { batch.deadline }
  /// Whether writes wait for the next commit.
  var isPending: Bool { !batch.operations.isEmpty }
  /// Whether a sample belongs to a time in which the run was running, while the run is not running now.
  var isAmendment: Bool { batch.isAmendment }
  /// Whether samples of a stream wait for the next commit.
  func isPending(of stream: StreamID) -> Bool { batch.streams[stream] != nil }

  /// Adds a write, and how far a stream is received with it.
  mutating func add(_ operation: StoreOperation?, stream: (StreamID, UInt64)?, at now: BusTime) {
    if let operation { batch.operations.append(operation) }
    if let (id, sequence) = stream { batch.streams[id] = sequence }
    if batch.deadline == nil { batch.deadline = now + Publisher.tickInterval }
    if batch.operations.count >= Self.operationsMax { batch.deadline = now }
  }

  /// Notes that the batch changes the state of a run that is not running.
  mutating func noteAmendment() { batch.isAmendment = true }

  /// Removes the mark of a stream that was given up.
  mutating func forget(_ stream: StreamID) { batch.streams[stream] = nil }

  /// What was gathered: the writes, those of the marks included, and the streams to acknowledge.
  struct Taken {
    let operations: [StoreOperation]
    let streams: [(key: StreamID, value: UInt64)]

    /// What follows the commit.
    var acknowledgements: [HubCore.Durable] {
      streams.flatMap { [.processed($0.key, StreamMark(sequence: $0.value)), .acknowledge($0.key)] }
    }
  }

  /// Empties the batch.
  mutating func take() -> Taken {
    let streams = batch.streams.sorted { $0.key.sender < $1.key.sender }
    let marks = streams.map { StoreOperation.setWatermark($0.key, StreamMark(sequence: $0.value)) }
    defer { batch = Batch() }
    return Taken(operations: batch.operations + marks, streams: streams)
  }

  /// Counts a reading of a run that is over; `false` if the run gets no more.
  mutating func admitPastReading(of run: RunID, max: Int) -> Bool {
    guard pastReadings[run, default: 0] < max else { return false }
    pastReadings[run, default: 0] += 1
    return true
  }

  /// Forgets the readings of a run whose journal is dropped.
  mutating func forgetReadings(of run: RunID) { pastReadings[run] = nil }

  /// Notes that the present run is full.
  ///
  /// - Returns: whether this is news.
  mutating func noteFull(_ run: RunID) -> Bool {
    defer { fullRun = run }
    return fullRun != run
  }
}
