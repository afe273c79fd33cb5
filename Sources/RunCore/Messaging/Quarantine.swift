/// The messages of this node that a receiver's handler refused too often. They wait for a person, who sends them again
/// or discards them.
struct Quarantine: Sendable {
  private var messages: [QuarantinedMessage]

  /// A quarantine with what the store kept, oldest first.
  ///
  /// - Parameter shift: how far to move the stored times so that they fit the present clock; `nil` when they fit.
  init(_ messages: [QuarantinedMessage], shift: BusDuration?) {
    self.messages = messages
    guard let shift else { return }
    for index in messages.indices { self.messages[index].since = messages[index].since + shift }
  }

  /// Adds a message.
  mutating func add(_ message: QuarantinedMessage) { messages.append(message) }

  /// The message with an id; `nil` when it is not in quarantine.
  func message(_ id: MessageID) -> QuarantinedMessage? { messages.first { $0.message.id == id } }

  /// Removes a message.
  ///
  /// - Returns: the write; `nil` when it is not in quarantine.
  mutating func remove(_ id: MessageID) -> StoreOperation? {
    guard let index = messages.firstIndex(where: { $0.message.id == id }) else { return nil }
    messages.remove(at: index)
    return .unquarantine(id)
  }

  /// Removes a message because a caller on this machine has discarded it, or has sent it again.
  ///
  /// - Parameter answer: what the caller is told once that is durable.
  mutating func remove(_ id: MessageID, answer: InquiryAnswer) -> InquiryReply {
    remove(id).map { .durably(answer, after: [$0]) } ?? .refused(.notQuarantined)
  }

  /// The report of each message, oldest first.
  ///
  /// - Parameter device: the device that uses a receiving store.
  func reports(at now: BusTime, device: (StoreID) -> DeviceID?) -> [QuarantineReport] {
    messages.map { $0.report(receiver: device($0.receiver), at: now) }
  }
}

extension InquiryReply {
  /// Answers a caller on this machine who posted a message to a device.
  static func posted(_ id: MessageID, to device: DeviceID?, refusal: PostRefusal?) -> InquiryReply {
    switch refusal {
    case nil: .durably(.done(id))
    case .unknownDevice: .refused(.notFound, "this hub has never met \(device?.rawValue ?? "that device")")
    case .tooLong: .refused(.messageTooLong)
    case .full, .unreachable: .refused(.outboxFull)
    }
  }
}
