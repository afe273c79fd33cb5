#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore
import SwiftProtobuf

// Inquiries to a node, and their answers.
extension Codec {
  /// The most lines in an answer; the size of the frame may limit a list further.
  static let answerLinesMax = 256
  /// The bytes of a frame that an answer may fill when everything around it is at its longest.
  private static func answerBytesMax(within limits: ConnectionLimits) -> Int { limits.frameBytesMax - 64 }

  static func message(_ inquiry: Inquiry) -> WireInquiry {
    var message = WireInquiry()
    switch inquiry {
    case .peers: message.inquiry = .peers(WireListPeers())
    case .outbox: message.inquiry = .outbox(WireListOutbox())
    case .cancel(let id): message.inquiry = .cancel(data(id))
    case .quarantine: message.inquiry = .quarantine(WireListQuarantine())
    case .retry(let id): message.inquiry = .retry(data(id))
    case .discard(let id): message.inquiry = .discard(data(id))
    case .report: message.inquiry = .report(WireAskReport())
    case .route(let from):
      var route = WireAskRoute()
      route.from = count(from)
      message.inquiry = .route(route)
    case .series: message.inquiry = .series(WireAskSeries())
    case .recover(let answer): message.inquiry = .recover(word(answer))
    case .records(let from):
      var records = WireListRecords()
      records.from = count(from)
      message.inquiry = .records(records)
    case .record(let run, let from): message.inquiry = .record(self.message(asking: run, from: from))
    case .editRecord(let run, let title, let note):
      message.inquiry = .editRecord(self.message(editing: run, title: title, note: note))
    case .removeRecord(let run): message.inquiry = .removeRecord(data(run))
    case .putRecord(let upload): message.inquiry = .putRecord(self.message(upload))
    case .post(let content, let device):
      var post = WirePostMessage()
      post.message = self.message(content)
      if let device { post.to = device.rawValue }
      message.inquiry = .post(post)
    case .devices: message.inquiry = .devices(WireListDevices())
    case .orderDevice(let key, let order): message.inquiry = .orderDevice(self.message(order, of: key))
    case .confirmDevices: message.inquiry = .confirmDevices(WireConfirmDevices())
    case .pairing(let order): message.inquiry = .pairing(self.message(order))
    case .rotateKey(let now):
      var rotate = WireRotateKey()
      rotate.now = now
      message.inquiry = .rotateKey(rotate)
    case .backUp(let path): message.inquiry = .backUp(path)
    case .room(let inquiry): message.inquiry = .room(Data(bytes(inquiry)))
    case .messages(let inquiry): message.inquiry = .messages(self.message(inquiry))
    case .unknown: break
    }
    return message
  }

  static func value(_ message: WireInquiry) throws(WireError) -> Inquiry {
    switch message.inquiry {
    case .peers: .peers
    case .outbox: .outbox
    case .cancel(let id): .cancel(try identifier(id, "message id"))
    case .quarantine: .quarantine
    case .retry(let id): .retry(try identifier(id, "message id"))
    case .discard(let id): .discard(try identifier(id, "message id"))
    case .report: .report
    case .route(let route): .route(from: try count(route.from, "index of a point"))
    case .series: .series
    case .recover(let word): try answer(word).map { .recover($0) } ?? .unknown
    case .records(let records): .records(from: try count(records.from, "index of a record"))
    case .record(let record):
      .record(try identifier(record.runID, "run id"), from: try count(record.from, "place of a byte"))
    case .editRecord(let edit): try value(edit)
    case .removeRecord(let run): .removeRecord(try identifier(run, "run id"))
    case .putRecord(let upload): .putRecord(try value(upload))
    case .post(let post): .post(try value(post.message), to: post.hasTo ? try device(post.to) : nil)
    case .devices: .devices
    case .orderDevice(let order): try value(order)
    case .confirmDevices: .confirmDevices
    case .pairing(let order): try value(order)
    case .rotateKey(let rotate): .rotateKey(now: rotate.now)
    case .backUp(let path): .backUp(to: path)
    case .room(let bytes): try roomInquiry(bytes).map(Inquiry.room) ?? .unknown
    case .messages(let inquiry): try value(inquiry).map(Inquiry.messages) ?? .unknown
    case nil: .unknown
    }
  }

  /// Encodes an answer. Of a list it contains as many of the first lines as the frame may contain.
  static func message(_ answer: InquiryAnswer, within limits: ConnectionLimits) -> WireInquiryAnswer {
    var message = WireInquiryAnswer()
    var bytesLeft = answerBytesMax(within: limits)
    switch answer {
    case .peers(let reports):
      var list = WirePeerReports()
      list.peers = lines(reports, within: &bytesLeft, self.message)
      message.answer = .peers(list)
    case .outbox(let reports):
      var list = WireOutboxReports()
      list.rows = lines(reports, within: &bytesLeft, self.message)
      message.answer = .outbox(list)
    case .quarantine(let reports):
      var list = WireQuarantineReports()
      list.messages = lines(reports, within: &bytesLeft, self.message)
      message.answer = .quarantine(list)
    case .done(let id):
      var done = WireDone()
      if let id { done.id = data(id) }
      message.answer = .done(done)
    case .failed(let failure):
      message.answer = .failed(fitting(failure.message, bytesMax: messageBytesMax))
      message.failureCode = word(failure.code)
    case .report(let report):
      var answer = WireReportAnswer()
      if let report { answer.report = self.message(report, bytesMax: bytesLeft) }
      message.answer = .report(answer)
    case .route(let part):
      var answer = WireRouteAnswer()
      if let part { answer.part = self.message(part) }
      message.answer = .route(answer)
    case .series(let series):
      var answer = WireSeriesAnswer()
      if let series { answer.series = self.message(series) }
      message.answer = .series(answer)
    case .records(let summaries, let removed, let total):
      message.answer = .records(self.message(summaries, removed, total: total, bytesMax: bytesLeft))
    case .record(let part): message.answer = .record(self.message(part))
    case .taken(let isKnown):
      var taken = WireRecordTaken()
      taken.known = isKnown
      message.answer = .taken(taken)
    case .devices(let list): message.answer = .devices(self.message(list))
    case .pairing(let report): message.answer = .pairing(self.message(report))
    case .room(let answer): message.answer = .room(Data(bytes(answer, bytesMax: bytesLeft)))
    case .messages(let answer): message.answer = .messages(self.message(answer, within: &bytesLeft))
    }
    return message
  }

  static func value(_ message: WireInquiryAnswer) throws(WireError) -> InquiryAnswer {
    switch message.answer {
    case .peers(let list): .peers(try reports(list.peers, value))
    case .outbox(let list): .outbox(try reports(list.rows, value))
    case .quarantine(let list): .quarantine(try reports(list.messages, value))
    case .done(let done): .done(done.hasID ? try identifier(done.id, "message id") : nil)
    case .failed(let reason):
      .failed(failure(message.failureCode, try text(reason, "failure", bytesMax: messageBytesMax)))
    case .report(let answer): .report(answer.hasReport ? try value(answer.report) : nil)
    case .route(let answer): .route(answer.hasPart ? try value(answer.part) : nil)
    case .series(let answer): .series(answer.hasSeries ? try value(answer.series) : nil)
    case .records(let answer): try value(answer)
    case .record(let part): .record(try value(part))
    case .taken(let taken): .taken(isKnown: taken.known)
    case .devices(let list): .devices(try value(list))
    case .pairing(let report): .pairing(try value(report))
    case .room(let bytes): .room(try roomInquiryAnswer(bytes))
    case .messages(let answer): try value(answer).map(InquiryAnswer.messages) ?? .failed(.unknownAnswer)
    // The answer keeps its place among the answers, which only their order assigns to the questions.
    case nil: .failed(.unknownAnswer)
    }
  }

  /// Encodes as many of the first lines as fit into the rest of a frame.
  static func lines<Report, Line: Message>(
    _ reports: [Report], within bytesLeft: inout Int, _ make: (Report) -> Line
  ) -> [Line] {
    var lines: [Line] = []
    for report in reports.prefix(answerLinesMax) {
      let line = make(report)
      // Field number and length take up to four bytes.
      bytesLeft -= 4 + size(of: line)
      guard bytesLeft >= 0 else { break }
      lines.append(line)
    }
    return lines
  }

  /// The encoded size of a message, without field number and length.
  static func size(of message: some Message) -> Int { ((try? message.serializedBytes() as [UInt8]) ?? []).count }

  static func reports<Line, Report>(
    _ lines: [Line], _ read: (Line) throws(WireError) -> Report
  ) throws(WireError) -> [Report] {
    guard lines.count <= answerLinesMax else { throw .malformed("more than \(answerLinesMax) lines in an answer") }
    var reports: [Report] = []
    reports.reserveCapacity(lines.count)
    for line in lines { reports.append(try read(line)) }
    return reports
  }

  private static func message(_ report: PeerReport) -> WirePeerReport {
    var message = WirePeerReport()
    message.deviceID = report.deviceID.rawValue
    message.role = report.role.rawValue
    message.reachable = report.isReachable
    if let age = report.heardAge { message.heardAgeNs = max(0, age.nanoseconds) }
    if let roundTrip = report.roundTrip { message.roundTripNs = max(0, roundTrip.nanoseconds) }
    message.waiting = report.waiting
    message.commandWatermark = report.commandWatermark
    return message
  }

  private static func value(_ message: WirePeerReport) throws(WireError) -> PeerReport {
    PeerReport(
      deviceID: try device(message.deviceID), role: try role(message.role), isReachable: message.reachable,
      heardAge: message.hasHeardAgeNs ? try span(message.heardAgeNs, "heard age") : nil,
      roundTrip: message.hasRoundTripNs ? try span(message.roundTripNs, "round trip") : nil,
      waiting: try counter(message.waiting, "waiting"),
      commandWatermark: try counter(message.commandWatermark, "command watermark"))
  }

  private static func message(_ report: OutboxReport) -> WireOutboxReport {
    var message = WireOutboxReport()
    message.kind = word(report.kind)
    if let id = report.id { message.id = data(id) }
    message.what = fitting(report.what, bytesMax: wordBytesMax)
    if let receiver = report.receiver { message.receiver = receiver.rawValue }
    message.ageNs = max(0, report.age.nanoseconds)
    message.tries = report.tries
    message.count = report.count
    message.accepted = report.isAccepted
    return message
  }

  private static func value(_ message: WireOutboxReport) throws(WireError) -> OutboxReport {
    OutboxReport(
      kind: kind(message.kind), id: message.hasID ? try identifier(message.id, "row id") : nil,
      what: try text(message.what, "row name", bytesMax: wordBytesMax),
      receiver: message.hasReceiver ? try device(message.receiver) : nil, age: try span(message.ageNs, "row age"),
      tries: message.tries, count: try counter(message.count, "row count"), isAccepted: message.accepted)
  }

  private static func message(_ report: QuarantineReport) -> WireQuarantineReport {
    var message = WireQuarantineReport()
    message.id = data(report.id)
    message.name = report.name
    message.bytes = report.bytes
    if let receiver = report.receiver { message.receiver = receiver.rawValue }
    message.reason = fitting(report.reason, bytesMax: messageBytesMax)
    message.ageNs = max(0, report.age.nanoseconds)
    return message
  }

  private static func value(_ message: WireQuarantineReport) throws(WireError) -> QuarantineReport {
    QuarantineReport(
      id: try identifier(message.id, "message id"), name: try name(message.name, "message name"),
      bytes: try counter(message.bytes, "message length"),
      receiver: message.hasReceiver ? try device(message.receiver) : nil,
      reason: try text(message.reason, "failure", bytesMax: messageBytesMax),
      age: try span(message.ageNs, "message age"))
  }

  private static func word(_ answer: RecoveryAnswer) -> WireRecoveryAnswer {
    switch answer {
    case .resume: .resume
    case .finish: .finish
    case .discard: .discard
    }
  }

  private static func answer(_ word: WireRecoveryAnswer) throws(WireError) -> RecoveryAnswer? {
    switch word {
    case .resume: .resume
    case .finish: .finish
    case .discard: .discard
    case .unspecified: throw .malformed("answer to a recovery is missing")
    case .UNRECOGNIZED: nil
    }
  }

  private static func word(_ code: InquiryFailure.Code) -> WireFailureCode {
    switch code {
    case .invalid: .invalid
    case .notFound: .notFound
    case .tooLate: .tooLate
    case .full: .full
    case .forbidden: .forbidden
    case .notHere: .notHere
    case .unsupported: .unsupported
    case .notRecovering: .notRecovering
    case .store: .store
    case .closed: .closed
    case .unreachable: .unreachable
    case .timeout: .timeout
    case .refused: .refused
    case .alreadyHandled: .alreadyHandled
    case .unknown: .unspecified
    }
  }

  private static func failure(_ word: WireFailureCode, _ sentence: String) -> InquiryFailure {
    switch word {
    case .unspecified, .UNRECOGNIZED: InquiryFailure(sentence: sentence)
    case .invalid: InquiryFailure(.invalid, sentence)
    case .notFound: InquiryFailure(.notFound, sentence)
    case .tooLate: InquiryFailure(.tooLate, sentence)
    case .full: InquiryFailure(.full, sentence)
    case .forbidden: InquiryFailure(.forbidden, sentence)
    case .notHere: InquiryFailure(.notHere, sentence)
    case .unsupported: InquiryFailure(.unsupported, sentence)
    case .notRecovering: InquiryFailure(.notRecovering, sentence)
    case .store: InquiryFailure(.store, sentence)
    case .closed: InquiryFailure(.closed, sentence)
    case .unreachable: InquiryFailure(.unreachable, sentence)
    case .timeout: InquiryFailure(.timeout, sentence)
    case .refused: InquiryFailure(.refused, sentence)
    case .alreadyHandled: InquiryFailure(.alreadyHandled, sentence)
    }
  }

  private static func word(_ kind: OutboxReport.Kind) -> WireOutboxKind {
    switch kind {
    case .command: .command
    case .samples: .samples
    case .message: .message
    case .verdict: .verdict
    case .latest: .latest
    case .unknown: .unspecified
    }
  }

  private static func kind(_ word: WireOutboxKind) -> OutboxReport.Kind {
    switch word {
    case .command: .command
    case .samples: .samples
    case .message: .message
    case .verdict: .verdict
    case .latest: .latest
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }
}
