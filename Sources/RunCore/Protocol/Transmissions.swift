/// A command on its way, with its place in the sender's stream and its age restated.
public struct CommandTransmission: Hashable, Sendable {
  /// The command.
  public var command: Command
  /// Its place in the sender's stream of commands: 1, 2, 3 …
  public var sequence: UInt64
  /// How long ago the person pressed, in real time, at the moment of sending.
  public var age: BusDuration
  /// The age was measured by wall time, across a reboot.
  public var isUncertain: Bool
  /// The stop of its run lies behind it in the sender's queue.
  public var stopFollows: Bool

  /// A transmission from its parts.
  public init(
    command: Command, sequence: UInt64, age: BusDuration, isUncertain: Bool = false, stopFollows: Bool = false
  ) {
    self.command = command
    self.sequence = sequence
    self.age = age
    self.isUncertain = isUncertain
    self.stopFollows = stopFollows
  }
}

/// A sample on its way.
public struct SampleTransmission: Hashable, Sendable {
  /// When it was taken: its age in real time at the moment of sending, or its place in the run.
  public enum Moment: Hashable, Sendable {
    /// Taken this long ago, in real time.
    case age(BusDuration)
    /// Taken at this offset on the run's own time line.
    case runOffset(BusDuration)
  }
  /// Its place in the sender's stream of samples: 1, 2, 3 …
  public var sequence: UInt64
  /// When it was taken.
  public var moment: Moment
  /// The reading.
  public var value: SampleValue
  /// The run it was measured in, as the sender knows it.
  public var runID: RunID?

  /// A sample transmission from its parts.
  public init(sequence: UInt64, moment: Moment, value: SampleValue, runID: RunID?) {
    self.sequence = sequence
    self.moment = moment
    self.value = value
    self.runID = runID
  }
}

/// A command without a connection of its own: what a plain REQ sends. Its reply is the verdict.
public struct Request: Hashable, Sendable {
  /// The command.
  public var command: Command
  /// The device it speaks for.
  public var deviceID: DeviceID
  /// How long ago the person pressed, in real time.
  public var age: BusDuration
  /// The age was measured by wall time, across a reboot.
  public var isUncertain: Bool

  /// A request from its parts.
  public init(command: Command, deviceID: DeviceID, age: BusDuration, isUncertain: Bool = false) {
    self.command = command
    self.deviceID = deviceID
    self.age = age
    self.isUncertain = isUncertain
  }
}

/// An app's message on its way, with its place in the sender's stream.
public struct MessageTransmission: Hashable, Sendable {
  /// Its place in the sender's stream of messages: 1, 2, 3 …
  public var sequence: UInt64
  /// The message.
  public var message: AppMessage

  /// A transmission from its parts.
  public init(sequence: UInt64, message: AppMessage) {
    self.sequence = sequence
    self.message = message
  }
}

/// A verdict on its way, with its place in the hub's stream to the sender.
public struct VerdictTransmission: Hashable, Sendable {
  /// Its place in the hub's stream of verdicts: 1, 2, 3 …
  public var sequence: UInt64
  /// The receipt that holds the verdict.
  public var receipt: Receipt

  /// A transmission from its parts.
  public init(sequence: UInt64, receipt: Receipt) {
    self.sequence = sequence
    self.receipt = receipt
  }
}

/// What both sides say to deliver what they owe each other.
public enum DeliveryMessage: Hashable, Sendable {
  /// Messages of the sender's numbered stream, in order.
  case messages([MessageTransmission])
  /// What became of the receiver's commands, in order.
  case verdicts([VerdictTransmission])
  /// These places of the sender's stream hold nothing any more.
  case tombstones(StreamID.Kind, from: UInt64, through: UInt64)
  /// The receiver's stream is durably processed up to here.
  case acknowledge(StreamID.Kind, through: UInt64)
  /// The receiver's messages up to here are with their handler, and not durable.
  case delivered(through: UInt64)
  /// Send the stream again from here; with a reason when this message's handler has failed.
  case goBack(StreamID.Kind, to: UInt64, failure: String?)
  /// The newest value of a key.
  case latest(key: String, version: UInt64, AppMessage)
  /// The value of a key has arrived and is durable.
  case acknowledgeLatest(key: String, version: UInt64)
  /// There is no room for the value of a key: it is not kept, and need not come again.
  case refuseLatest(key: String, version: UInt64)
  /// A message that is for now or never.
  case live(AppMessage)
}
