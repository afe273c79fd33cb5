/// Forwards the commands that wait in this machine's spool. It decides when they are sent, and which of them can still
/// be cancelled.
struct SpoolForwarder: Sendable {
  /// The commands without a verdict.
  private var waiting: [CommandID: ForwardedCommand] = [:]
  /// Those that may have been sent, and so cannot be cancelled.
  private var sent: Set<CommandID> = []
  /// When all are sent again; `nil` without a session.
  private(set) var retryAt: BusTime?
  /// Whether the transport's queue was full, so that some may not have been sent.
  private var isPostponed = false

  /// The boot of this machine; empty when unknown.
  private let bootID: String

  private static let patience = BusDuration.seconds(5)

  init(bootID: String) { self.bootID = bootID }

  /// Whether a command waits for its verdict.
  func holds(_ id: CommandID) -> Bool { waiting[id] != nil }

  /// Adds the commands that are in the spool now; known ones may be among them.
  ///
  /// - Returns: whether there is a new one.
  mutating func add(_ commands: [ForwardedCommand]) -> Bool {
    var isNews = false
    for command in commands where !holds(command.command.id) {
      waiting[command.command.id] = command
      isNews = true
    }
    return isNews
  }

  /// All requests in press order, to be sent now. They are due again every five seconds until their verdicts are known.
  mutating func nextRequests(at now: BusTime, generator: inout SeededGenerator) -> [Request] {
    requests(for: Array(waiting.values), at: now, generator: &generator)
  }

  /// The requests that were never sent, in press order, to be sent now. The others wait until they are due, so that a
  /// thousand commands without verdicts do not go out with each new one. Behind a full queue all wait for their turn.
  mutating func newRequests(at now: BusTime, generator: inout SeededGenerator) -> [Request] {
    guard sent.count < waiting.count, !isPostponed else { return [] }
    return requests(for: waiting.values.filter { !sent.contains($0.command.id) }, at: now, generator: &generator)
  }

  private mutating func requests(
    for commands: [ForwardedCommand], at now: BusTime, generator: inout SeededGenerator
  ) -> [Request] {
    guard !commands.isEmpty else { return [] }
    isPostponed = false
    if retryAt == nil || commands.count == waiting.count { retryAt = now + generator.jittered(Self.patience) }
    let order = commands.sorted { ($0.since.nanoseconds, $0.command.id) < ($1.since.nanoseconds, $1.command.id) }
    for command in order { sent.insert(command.command.id) }
    return order.map { $0.request(at: now, bootID: bootID) }
  }

  /// Removes a command that has its verdict.
  mutating func judge(_ id: CommandID) {
    waiting[id] = nil
    sent.remove(id)
    if waiting.isEmpty { (retryAt, isPostponed) = (nil, false) }
  }

  /// Cancels a command; `false` when it may have been sent.
  mutating func cancel(_ id: CommandID) -> Bool {
    guard !sent.contains(id) else { return false }
    waiting[id] = nil
    if waiting.isEmpty { (retryAt, isPostponed) = (nil, false) }
    return true
  }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) {
    guard !waiting.isEmpty else { return }
    retryAt = time
    isPostponed = true
  }

  /// Ends the session.
  mutating func close() {
    retryAt = nil
    isPostponed = false
  }
}
