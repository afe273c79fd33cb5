/// A command as a peer sends it, with its position in the stream and its age at the moment of sending.
package struct CommandTransmission: Hashable, Sendable {
  /// The command.
  package var command: Command
  /// Its sequence number in the sender's stream of commands: 1, 2, 3 …
  package var sequence: UInt64
  /// Real time from the press to the sending.
  package var age: BusDuration
  /// Whether the age was measured by wall time, because the sender rebooted after the press.
  package var isUncertain: Bool
  /// Whether the stop of its run follows in the sender's queue.
  package var stopFollows: Bool

  /// A transmission from its parts.
  package init(
    command: Command, sequence: UInt64, age: BusDuration, isUncertain: Bool = false, stopFollows: Bool = false
  ) {
    self.command = command
    self.sequence = sequence
    self.age = age
    self.isUncertain = isUncertain
    self.stopFollows = stopFollows
  }
}

/// A reading as a peer sends it.
package struct SampleTransmission: Hashable, Sendable {
  /// Its sequence number in the sender's stream of samples: 1, 2, 3 …
  package var sequence: UInt64
  /// When it was taken, on a line of real time whose zero is the moment of sending; `nil` when a later version states it
  /// in a way that this version does not know.
  package var moment: SampleMoment?
  /// The reading; `nil` for a kind of a later version, which this version does not know. It uses up its sequence number
  /// and goes to no run.
  package var value: SampleValue?
  /// The run in which it was taken, as far as the sender knows.
  package var runID: RunID?
  /// Fields of a later version, which a hub ignores.
  package var unknown: [UInt8] = []

  /// A sample transmission from its parts.
  package init(sequence: UInt64, moment: SampleMoment?, value: SampleValue?, runID: RunID?) {
    self.sequence = sequence
    self.moment = moment
    self.value = value
    self.runID = runID
  }
}

/// An app's message as a node sends it, with its position in the stream.
package struct MessageTransmission: Hashable, Sendable {
  /// Its sequence number in the sender's stream of messages: 1, 2, 3 …
  package var sequence: UInt64
  /// The message.
  package var message: AppMessage

  /// A transmission from its parts.
  package init(sequence: UInt64, message: AppMessage) {
    self.sequence = sequence
    self.message = message
  }
}

/// A verdict as the hub sends it, with its position in the stream to the command's sender.
package struct VerdictTransmission: Hashable, Sendable {
  /// Its sequence number in the hub's stream of verdicts: 1, 2, 3 …
  package var sequence: UInt64
  /// The command that was judged.
  package var commandID: CommandID
  /// The receipt that holds the verdict; `nil` when the command is of a kind of a later version, which this version does
  /// not know. It uses up its sequence number.
  package var receipt: Receipt?

  /// A transmission from its parts.
  package init(sequence: UInt64, receipt: Receipt) {
    self.sequence = sequence
    self.receipt = receipt
    commandID = receipt.commandID
  }

  /// A transmission whose receipt this version cannot read.
  package init(sequence: UInt64, commandID: CommandID) {
    self.sequence = sequence
    self.commandID = commandID
  }
}

/// What hub and peer send each other about messages, verdicts, and newest values.
package enum DeliveryMessage: Hashable, Sendable {
  /// Messages of the sender's stream, in order.
  case messages([MessageTransmission])
  /// Verdicts on the receiver's commands, in order.
  case verdicts([VerdictTransmission])
  /// Sequence numbers of the sender's stream that hold no item.
  case tombstones(StreamID.Kind, from: UInt64, through: UInt64)
  /// The sender of this frame has durably processed the receiver's stream up to here.
  case acknowledge(StreamID.Kind, through: UInt64)
  /// The sender of this frame has handed the receiver's messages up to here to its app. They are not durable there yet.
  case delivered(through: UInt64)
  /// Asks the receiver to send its stream again from here; with a reason when the app's handler failed for that item.
  case goBack(StreamID.Kind, to: UInt64, failure: String?)
  /// The newest value of a key.
  case latest(key: String, version: UInt64, AppMessage)
  /// The sender of this frame has stored the value of a key durably.
  case acknowledgeLatest(key: String, version: UInt64)
  /// The sender of this frame has no room for the value of a key. The receiver does not send it again.
  case refuseLatest(key: String, version: UInt64)
  /// A message that is delivered now or not at all.
  case live(AppMessage)
}
