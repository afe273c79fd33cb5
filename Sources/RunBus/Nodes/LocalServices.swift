import Dispatch
import Foundation
import Logging
import RunCore

/// What a node offers on its own machine besides its store: the spools of the machine, and an admin socket.
package struct LocalServices: Sendable {
  /// Where senders without a store leave commands that they could not deliver: one directory for each place at which
  /// they look for the hub.
  package var spools: [SpoolDirectory]
  /// Opens the socket at which a shell asks this node.
  package var adminSocket: (any AdminSocketOpener)?

  /// Makes the services from their parts. Without a spool the node delivers no spooled commands; without an admin
  /// socket it answers no shell.
  package init(spools: [SpoolDirectory] = [], adminSocket: (any AdminSocketOpener)? = nil) {
    self.spools = spools
    self.adminSocket = adminSocket
  }
}

/// Runs the local services of a node. Used on the thread of the node's loop only.
final class LocalServicesDriver {
  /// How often a node that is awake reads the spools; one without events reads them half as often.
  private let lookEvery: BusDuration
  private let services: LocalServices
  private let loop: Loop
  private let log: Logger
  private let disk = DispatchQueue(label: "runbus.spool")
  private let inquire: (Inquiry, UInt64) -> Void
  private let spooled: ([ForwardedCommand]) -> Void
  private var adminSocket: (any AdminSocket)?
  private var timer: LoopTimer?
  private var lookAt = BusTime.zero
  private var stamps: [SpoolStamp?]
  /// Commands found in the spools that have no verdict yet. They are reported again at each look, because a node whose
  /// store was full could not accept them.
  private var unjudged: Set<CommandID> = []
  /// What the last look has read, so that the next one reads the new files only.
  private var known = SpoolDirectory.Known()
  /// Whether a look is under way. Another one beside it would read the same files, so it comes when it is due again.
  private var isLooking = false
  /// Commands whose files are to be removed. Those that gather while the disk is busy share its next sync.
  private var removable: [CommandID] = []
  private var isRemoving = false
  private var replies: [UInt64: @Sendable (InquiryAnswer) -> Void] = [:]
  private var lastNumber: UInt64 = 0

  init(
    _ services: LocalServices, loop: Loop, log: Logger, lookEvery: BusDuration = .seconds(5),
    spooled: @escaping ([ForwardedCommand]) -> Void, inquire: @escaping (Inquiry, UInt64) -> Void
  ) {
    self.lookEvery = lookEvery
    self.services = services
    stamps = services.spools.map { _ in nil }
    self.loop = loop
    self.log = log
    self.spooled = spooled
    self.inquire = inquire
  }

  /// Opens the admin socket and starts to read the spools at intervals.
  ///
  /// - Throws: The error of the admin socket: a node that no script can ask does not start.
  func open() throws(RunBusError) {
    adminSocket = try services.adminSocket?.open(
      on: loop, answerLater: { [weak self] inquiry, reply in self?.ask(inquiry, reply) })
    guard !services.spools.isEmpty else { return }
    timer = loop.makeTimer { [weak self] in self?.look() }
    look()
  }

  /// Reads the spools if it is time; called whenever the node is awake anyway.
  func lookIfDue() {
    if timer != nil, loop.now >= lookAt { look() }
  }

  private func look() {
    lookAt = loop.now + lookEvery
    // The timer is for a node without events; any other node calls `lookIfDue()` first.
    timer?.deadline = lookAt + lookEvery
    guard !isLooking else { return }
    let stamps = services.spools.map(\.changeStamp)
    guard stamps.contains(where: { $0 != nil }), stamps != self.stamps || !unjudged.isEmpty else { return }
    self.stamps = stamps
    isLooking = true
    let spools = zip(services.spools, stamps).filter { $1 != nil }.map(\.0)
    let driver = Weak(self)
    disk.async { [loop, known] in
      var read = SpoolDirectory.Known()
      let found = spools.map { spool in
        var known = known
        let found = spool.list(&known)
        read.merge(known) { _, new in new }
        return found
      }
      loop.submit { [read] in
        driver.value?.isLooking = false
        driver.value?.known = read
        driver.value?.receive(found.flatMap(\.commands), found.flatMap(\.notices))
      }
    }
  }

  private func receive(_ commands: [SpooledCommand], _ notices: [String]) {
    for notice in notices { log.warning("\(notice)") }
    let now = loop.now
    let wall = loop.wallSeconds
    let presses = commands.map { $0.forwarded(now: now, wallSeconds: wall, bootID: MachineBoot.id) }
    unjudged = Set(presses.map(\.command.id))
    if !presses.isEmpty { spooled(presses) }
  }

  /// Removes the file of a spooled command that has its verdict.
  func remove(_ id: CommandID) {
    unjudged.remove(id)
    removable.append(id)
    if !isRemoving { removeNext() }
  }

  private func removeNext() {
    isRemoving = !removable.isEmpty
    guard isRemoving else { return }
    let driver = Weak(self)
    disk.async { [loop, log, ids = removable, spools = services.spools] in
      Self.remove(ids, from: spools, log)
      loop.submit { driver.value?.removeNext() }
    }
    removable = []
  }

  private static func remove(_ ids: [CommandID], from spools: [SpoolDirectory], _ log: Logger) {
    for error in spools.flatMap({ $0.remove(ids) }) { log.warning("\(error)") }
  }

  /// Makes the spool directories: from now on, senders of this machine may leave commands for this bus.
  func meet() {
    for spool in services.spools {
      disk.async { [log] in
        do { try spool.make() } catch { log.warning("\(error)") }
      }
    }
  }

  /// Passes an inquiry to the core and remembers who waits for its answer.
  func ask(_ inquiry: Inquiry, _ reply: @escaping @Sendable (InquiryAnswer) -> Void) {
    lastNumber += 1
    replies[lastNumber] = reply
    inquire(inquiry, lastNumber)
  }

  /// Passes the core's answer to the app or shell that asked.
  func answer(_ answer: InquiryAnswer, _ number: UInt64) { replies.removeValue(forKey: number)?(answer) }

  func close() {
    adminSocket?.close()
    adminSocket = nil
    timer = nil
    for reply in replies.values { reply(.failed(InquiryFailure(.closed, "the node has ended"))) }
    replies = [:]
    // Waits for removals that are under way, and does the others: the file of a judged command must not be found again.
    disk.sync { Self.remove(removable, from: services.spools, log) }
    removable = []
  }
}

/// Carries a weak reference through the disk queue back to the loop's thread.
///
/// `@unchecked Sendable`: `value` is only read on the loop's thread.
private final class Weak: @unchecked Sendable {
  weak var value: LocalServicesDriver?
  init(_ value: LocalServicesDriver) { self.value = value }
}
