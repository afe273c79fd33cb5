import DequeModule

/// Distributes the messages that a node hands to its app among the app's readers, one message at a time and in order.
///
/// A reader takes the messages of one name, or those of all names that have no reader of their own. There a visitor, who
/// listens in the place of the app, comes before the app's reader. The next message
/// is given out when the reader of the one before has finished it. So the messages of a sender keep their order across
/// readers, and the watermark of its stream can move over everything that is finished.
///
/// A queued message without a reader counts as one whose handler fails: its sender tries it again and, after five
/// times, puts it in quarantine, so that it stays with its sender and the messages behind it proceed. Other messages
/// without a reader are dropped.
package struct ReaderQueue: Sendable {
  /// What the queue reports to the core.
  package enum Report: Hashable, Sendable {
    /// Everything of the stream up to this sequence is finished.
    case handled(StreamID, through: UInt64, handlerGeneration: UInt64)
    /// The app failed for a message.
    case failed(StreamID, UInt64, String)
  }

  /// A message that a reader has received and not finished.
  package struct Handed: Hashable, Sendable {
    /// Differs for each message that is given out.
    package let number: UInt64
    /// The message.
    package let call: HandlerCall
    fileprivate let reader: UInt64
  }

  /// How many live messages of all devices may wait, and of one device. Further ones are dropped. The bound for one
  /// device keeps a device that floods the app from taking the room of the others. Queued messages are bounded by what
  /// their sender has in flight. Of the newest values, one for each key waits.
  package static let liveMax = 256
  package static let liveOfOneMax = 32

  private var lastNumber: UInt64 = 0
  /// The names of the open readers; `nil` is the reader of all other names.
  private var names: [UInt64: String?] = [:]
  private var readers: [String: UInt64] = [:]
  private var readerOfOthers: UInt64?
  private var visitorOfOthers: UInt64?
  private var waiting: Deque<HandlerCall> = []
  private var handed: Handed?
  /// The handler generation in which a stream failed. Calls of that generation are stale, because the core hands these
  /// messages over again in a newer one.
  private var failed: [StreamID: UInt64] = [:]
  private var reports: [Report] = []

  /// A queue without readers and messages.
  package init() {}

  /// Whether there is a reader.
  package var hasReaders: Bool { !names.isEmpty }
  /// Whether the last reader has closed and the core does not know that yet. Until it does, the queue accepts no
  /// messages, because the core hands over again all messages that are not finished.
  package private(set) var isGivingBack = false
  /// Whether ``takeReports()`` has something to return.
  package var hasReports: Bool { !reports.isEmpty }

  // MARK: Readers

  /// Opens a reader.
  ///
  /// - Parameters:
  ///   - name: The name of its messages; `nil` for all names that have no reader of their own.
  ///   - isVisitor: Whether it listens in the place of the app.
  /// - Returns: its number; `nil` when there is such a reader already.
  package mutating func open(_ name: String?, isVisitor: Bool = false) -> UInt64? {
    lastNumber += 1
    if let name {
      guard readers[name] == nil else { return nil }
      readers[name] = lastNumber
    } else if isVisitor {
      guard visitorOfOthers == nil else { return nil }
      visitorOfOthers = lastNumber
    } else {
      guard readerOfOthers == nil else { return nil }
      readerOfOthers = lastNumber
    }
    names[lastNumber] = .some(name)
    return lastNumber
  }

  /// Closes a reader. A message that it has not finished waits for the next reader of its name. A live one does not: it
  /// is handed out once.
  package mutating func close(_ reader: UInt64) {
    guard let name = names.removeValue(forKey: reader) else { return }
    if let name {
      readers[name] = nil
    } else if visitorOfOthers == reader {
      visitorOfOthers = nil
    } else {
      readerOfOthers = nil
    }
    if let handed, handed.reader == reader {
      if handed.call.received.deliveryClass != .live { waiting.prepend(handed.call) }
      self.handed = nil
    }
    if names.isEmpty {
      waiting = []
      failed = [:]
      isGivingBack = true
    }
    settle()
  }

  /// The core knows that there is no reader: it hands over again all messages that are not finished.
  package mutating func finishGivingBack() { isGivingBack = false }

  /// Forgets all messages, because a new core hands them over again.
  package mutating func restart() {
    waiting = []
    handed = nil
    failed = [:]
    reports = []
    isGivingBack = false
  }

  // MARK: Messages

  /// Adds messages that the core hands to the app, in order.
  package mutating func put(_ calls: [HandlerCall]) {
    guard hasReaders, !isGivingBack else { return }
    for call in calls {
      switch call.received.deliveryClass {
      case .queued:
        if let generation = failed[call.stream] {
          guard call.handlerGeneration > generation else { continue }
          failed[call.stream] = nil
        }
      case .latest:
        waiting.removeAll {
          $0.received.deliveryClass == call.received.deliveryClass && $0.received.from == call.received.from
        }
      case .live:
        let live = waiting.filter { $0.received.deliveryClass == .live }
        guard live.count < Self.liveMax,
          live.count(where: { $0.received.from == call.received.from }) < Self.liveOfOneMax
        else { continue }
      }
      waiting.append(call)
    }
    settle()
  }

  /// The reader asks for its next message.
  ///
  /// - Parameter finished: The number of the message that it has finished by asking.
  /// - Returns: the message. One that it has and has not finished comes again, unless it is live. `nil` while another
  ///   reader has one, or none of this reader's names is next.
  package mutating func take(_ reader: UInt64, finished: UInt64?) -> Handed? {
    if let finished { finish(finished) }
    if let handed {
      guard handed.reader == reader else { return nil }
      guard handed.call.received.deliveryClass == .live else { return handed }
      self.handed = nil
      settle()
    }
    guard nextReader == reader, let call = waiting.popFirst() else { return nil }
    lastNumber += 1
    let next = Handed(number: lastNumber, call: call, reader: reader)
    handed = next
    return next
  }

  /// The reader that is to take the next message; `nil` while a message is not finished, or none waits.
  package var nextReader: UInt64? { handed == nil ? waiting.first.flatMap(reader(of:)) : nil }

  /// A message is finished: it counts as processed.
  package mutating func finish(_ number: UInt64) {
    guard let call = giveBack(number) else { return }
    if let sequence = call.sequence { report(call, handledThrough: sequence) }
    settle()
  }

  /// The app has failed for a message. The core hands it over again, with all that follow in its stream.
  package mutating func fail(_ number: UInt64, _ reason: String) {
    guard let call = giveBack(number) else { return }
    fail(call, reason)
    settle()
  }

  /// The reports since the last call, in order. Reports on what is finished are joined for each stream.
  package mutating func takeReports() -> [Report] {
    defer { reports = [] }
    return reports
  }

  private mutating func giveBack(_ number: UInt64) -> HandlerCall? {
    guard let handed, handed.number == number else { return nil }
    self.handed = nil
    return handed.call
  }

  private func reader(of call: HandlerCall) -> UInt64? {
    readers[call.received.message.name] ?? visitorOfOthers ?? readerOfOthers
  }

  /// Refuses the messages at the front that have no reader.
  private mutating func settle() {
    guard handed == nil else { return }
    while let call = waiting.first, reader(of: call) == nil {
      waiting.removeFirst()
      fail(call, "the app has no handler for messages named \"\(call.received.message.name)\"")
    }
  }

  private mutating func fail(_ call: HandlerCall, _ reason: String) {
    guard let sequence = call.sequence else { return }
    reports.append(.failed(call.stream, sequence, reason))
    failed[call.stream] = call.handlerGeneration
    waiting.removeAll {
      $0.sequence != nil && $0.stream == call.stream && $0.handlerGeneration <= call.handlerGeneration
    }
  }

  private mutating func report(_ call: HandlerCall, handledThrough sequence: UInt64) {
    let report = Report.handled(call.stream, through: sequence, handlerGeneration: call.handlerGeneration)
    let last = reports.lastIndex {
      switch $0 {
      case .handled(let stream, _, _), .failed(let stream, _, _): stream == call.stream
      }
    }
    if let last, case .handled(_, _, call.handlerGeneration) = reports[last] {
      reports[last] = report
    } else {
      reports.append(report)
    }
  }
}
