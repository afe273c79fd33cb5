#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore

// What a shell does with messages in the place of a node's app, and the answers.
extension Codec {
  static func message(_ inquiry: MessageInquiry) -> WireMessageInquiry {
    var message = WireMessageInquiry()
    switch inquiry {
    case .send(let content, let deliveryClass, let device, let patience):
      var send = WireSendMessage()
      send.message = self.message(content)
      send.by = self.message(deliveryClass)
      if let device { send.to = device.rawValue }
      if let patience { send.waitNs = max(0, patience.nanoseconds) }
      message.inquiry = .send(send)
    case .ask(let content, let device, let patience):
      var ask = WireAskMessage()
      ask.message = self.message(content)
      if let device { ask.of = device.rawValue }
      ask.waitNs = max(0, patience.nanoseconds)
      message.inquiry = .ask(ask)
    case .take(let listener, let topic, let report): message.inquiry = .take(self.message(listener, topic, report))
    case .leave(let listener, let report):
      var leave = WireLeaveMessages()
      leave.listener = data(listener)
      if let report { leave.report = self.message(report) }
      message.inquiry = .leave(leave)
    case .values(let from):
      var values = WireListValues()
      values.from = count(from)
      message.inquiry = .values(values)
    case .value(let key, let device):
      var value = WireAskValue()
      value.key = key
      if let device { value.from = device.rawValue }
      message.inquiry = .value(value)
    }
    return message
  }

  /// Reads an inquiry; `nil` for one of a later version.
  static func value(_ message: WireMessageInquiry) throws(WireError) -> MessageInquiry? {
    switch message.inquiry {
    case .send(let send):
      guard let deliveryClass = try value(send.by) else { return nil }
      return .send(
        try value(send.message), deliveryClass, to: send.hasTo ? try device(send.to) : nil,
        patience: send.hasWaitNs ? try span(send.waitNs, "patience") : nil)
    case .ask(let ask):
      return .ask(
        try value(ask.message), of: ask.hasOf ? try device(ask.of) : nil, patience: try span(ask.waitNs, "patience"))
    case .take(let take): return try value(take)
    case .leave(let leave):
      let listener: ListenerID = try identifier(leave.listener, "listener's id")
      guard leave.hasReport else { return .leave(listener, nil) }
      return try value(leave.report).map { .leave(listener, $0) }
    case .values(let values): return .values(from: try count(values.from, "index of a value"))
    case .value(let ask):
      return .value(key: try name(ask.key, "key"), from: ask.hasFrom ? try device(ask.from) : nil)
    case nil: return nil
    }
  }

  private static func message(
    _ listener: ListenerID, _ topic: ListenerTopic, _ report: ListenerReport?
  ) -> WireTakeMessage {
    var take = WireTakeMessage()
    take.listener = data(listener)
    switch topic {
    case .messages(let name): if let name { take.name = name }
    case .questions(let name): (take.name, take.questions) = (name, true)
    }
    if let report { take.report = self.message(report) }
    return take
  }

  private static func message(_ report: ListenerReport) -> WireTakeReport {
    var message = WireTakeReport()
    message.number = report.number
    switch report.outcome {
    case .working: message.working = WireEmpty()
    case .processed: message.processed = WireEmpty()
    case .failed(let reason): message.failed = fitting(reason, bytesMax: messageBytesMax)
    case .answer(let content): message.answer = Data(content)
    }
    return message
  }

  private static func value(_ message: WireTakeReport) throws(WireError) -> ListenerReport? {
    let number = try counter(message.number, "number of a message")
    switch message.outcome {
    case .working: return ListenerReport(number, .working)
    case .processed: return ListenerReport(number, .processed)
    case .failed(let reason):
      return ListenerReport(number, .failed(try text(reason, "failure", bytesMax: messageBytesMax)))
    case .answer(let content): return ListenerReport(number, .answer(try answer(content)))
    case nil: return nil
    }
  }

  private static func answer(_ content: Data) throws(WireError) -> [UInt8] {
    guard content.count <= Reply.contentMax else { throw .malformed("answer is longer than \(Reply.contentMax) bytes") }
    return [UInt8](content)
  }

  private static func value(_ take: WireTakeMessage) throws(WireError) -> MessageInquiry? {
    let listener: ListenerID = try identifier(take.listener, "listener's id")
    let name = take.hasName ? try self.name(take.name, "message name") : nil
    let topic: ListenerTopic
    if take.questions {
      guard let name else { throw .malformed("a listener for questions names none") }
      topic = .questions(name)
    } else {
      topic = .messages(name)
    }
    guard take.hasReport else { return .take(listener, topic, nil) }
    return try value(take.report).map { .take(listener, topic, $0) }
  }

  private static func message(_ deliveryClass: DeliveryClass) -> WireMessageClass {
    var message = WireMessageClass()
    switch deliveryClass {
    case .live: message.live = WireEmpty()
    case .latest(let key): message.latest = key
    case .queued: message.queued = WireEmpty()
    }
    return message
  }

  private static func value(_ message: WireMessageClass) throws(WireError) -> DeliveryClass? {
    switch message.by {
    case .live: .live
    case .latest(let key): .latest(key: try name(key, "key"))
    case .queued: .queued
    case nil: nil
    }
  }

  // MARK: Answers

  static func message(_ answer: MessageAnswer, within bytesLeft: inout Int) -> WireMessageAnswer {
    var message = WireMessageAnswer()
    switch answer {
    case .stage(let stage): message.answer = .stage(self.message(stage))
    case .reply(let content): message.answer = .reply(Data(content))
    case .handed(let handed):
      var hand = WireHandedMessage()
      hand.number = handed.number
      hand.from = handed.received.from.rawValue
      hand.by = self.message(handed.received.deliveryClass)
      hand.message = self.message(handed.received.message)
      message.answer = .handed(hand)
    case .nothing: message.answer = .nothing(WireEmpty())
    case .values(let reports, let total):
      var list = WireValueReports()
      list.values = lines(reports, within: &bytesLeft, self.message)
      list.total = count(total)
      message.answer = .values(list)
    case .value(let content, let device):
      var value = WireReceivedValue()
      value.from = device.rawValue
      value.message = self.message(content)
      message.answer = .value(value)
    }
    return message
  }

  /// Reads an answer; `nil` for one of a later version.
  static func value(_ message: WireMessageAnswer) throws(WireError) -> MessageAnswer? {
    switch message.answer {
    case .stage(let report): return try value(report).map(MessageAnswer.stage)
    case .reply(let content): return .reply(try self.answer(content))
    case .handed(let hand):
      guard let deliveryClass = try value(hand.by) else { return nil }
      let received = ReceivedMessage(
        message: try value(hand.message), from: try device(hand.from), deliveryClass: deliveryClass)
      return .handed(HandedMessage(try counter(hand.number, "number of a message"), received))
    case .nothing: return .nothing
    case .values(let list): return .values(try reports(list.values, value), total: try count(list.total, "values"))
    case .value(let value): return .value(try self.value(value.message), from: try device(value.from))
    case nil: return nil
    }
  }

  private static func message(_ stage: DeliveryStage) -> WireMessageStageReport {
    var report = WireMessageStageReport()
    switch stage {
    case .sent: report.stage = .sent
    case .queued: report.stage = .queued
    case .delivered: report.stage = .delivered
    case .processed: report.stage = .processed
    case .replaced: report.stage = .replaced
    case .rejected(let reason):
      report.stage = .rejected
      report.rejected = message(reason)
    }
    return report
  }

  private static func value(_ report: WireMessageStageReport) throws(WireError) -> DeliveryStage? {
    switch report.stage {
    case .sent: .sent
    case .queued: .queued
    case .delivered: .delivered
    case .processed: .processed
    case .replaced: .replaced
    case .rejected: .rejected(try value(report.rejected))
    case .unspecified, .UNRECOGNIZED: nil
    }
  }

  private static func message(_ report: ValueReport) -> WireValueReport {
    var message = WireValueReport()
    message.key = report.key
    message.from = report.from.rawValue
    message.name = report.name
    message.bytes = report.bytes
    if let age = report.age { message.ageNs = max(0, age.nanoseconds) }
    return message
  }

  private static func value(_ message: WireValueReport) throws(WireError) -> ValueReport {
    ValueReport(
      key: try name(message.key, "key"), from: try device(message.from), name: try name(message.name, "message name"),
      bytes: try counter(message.bytes, "message length"),
      age: message.hasAgeNs ? try span(message.ageNs, "age of a value") : nil)
  }
}
