import Dispatch
import Foundation
import Logging
import RunCore

/// What a node has on its own machine besides its store: the spool of one-shot senders, and a door for shells.
public struct LocalServices: Sendable {
  /// Where one-shot senders leave what they could not deliver.
  public var spool: SpoolDirectory?
  /// Where a shell asks what the node holds.
  public var adminSocket: (any AdminSocketOpener)?

  /// A place from its parts; without them the node delivers no spool and answers no shell.
  public init(spool: SpoolDirectory? = nil, adminSocket: (any AdminSocketOpener)? = nil) {
    self.spool = spool
    self.adminSocket = adminSocket
  }
}

/// Carries out what a node does at its place. Used on the node's loop's thread only.
final class LocalServicesDriver {
  /// A person does not wait longer than this for a hub that is there to find a press in the spool.
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
  private var stamp: SpoolStamp?
  /// What was found there and has no verdict yet: a node that could not take it (its store was full) is told of it again.
  private var unjudged: Set<CommandID> = []
  private var replies: [UInt64: @Sendable (InquiryAnswer) -> Void] = [:]
  private var lastNumber: UInt64 = 0

  init(
    _ services: LocalServices, loop: Loop, log: Logger, lookEvery: BusDuration = .seconds(5),
    spooled: @escaping ([ForwardedCommand]) -> Void, inquire: @escaping (Inquiry, UInt64) -> Void
  ) {
    self.lookEvery = lookEvery
    self.services = services
    self.loop = loop
    self.log = log
    self.spooled = spooled
    self.inquire = inquire
  }

  /// Opens the door and looks into the spool, now and again.
  ///
  /// Throws what keeps the door from opening: a node that no script can ask is not started.
  func open() throws(RunBusError) {
    adminSocket = try services.adminSocket?.open(
      on: loop, answerLater: { [weak self] inquiry, reply in self?.ask(inquiry, reply) })
    guard services.spool != nil else { return }
    timer = loop.makeTimer { [weak self] in self?.look() }
    look()
  }

  /// Looks into the spool if it is time; called whenever the node is awake anyway.
  func lookIfDue() {
    if timer != nil, Loop.now >= lookAt { look() }
  }

  private func look() {
    guard let spool = services.spool else { return }
    lookAt = Loop.now + lookEvery
    // Whoever is awake looks; the timer is for a node to which nothing happens.
    timer?.deadline = lookAt + lookEvery
    let stamp = spool.changeStamp
    guard let stamp, stamp != self.stamp || !unjudged.isEmpty else { return }
    self.stamp = stamp
    let keeper = Weak(self)
    disk.async { [loop] in
      let (commands, notices) = spool.list()
      loop.submit { keeper.value?.receive(commands, notices) }
    }
  }

  private func receive(_ commands: [SpooledCommand], _ notices: [String]) {
    for notice in notices { log.warning("\(notice)") }
    let now = Loop.now
    let wall = Date().timeIntervalSince1970
    let presses = commands.map { spooled in
      let (age, isUncertain) = spooled.age(now: now, wallSeconds: wall, bootID: MachineBoot.id)
      return ForwardedCommand(
        command: spooled.command, deviceID: spooled.deviceID, since: now - age, isUncertain: isUncertain)
    }
    unjudged = Set(presses.map(\.command.id))
    if !presses.isEmpty { spooled(presses) }
  }

  /// A spooled press has its verdict.
  func remove(_ id: CommandID) {
    guard let spool = services.spool else { return }
    unjudged.remove(id)
    disk.async { [log] in
      do { try spool.remove(id) } catch { log.warning("\(error)") }
    }
  }

  /// This machine is part of the bus.
  func meet() {
    guard let spool = services.spool else { return }
    disk.async { [log] in
      do { try spool.make() } catch { log.warning("\(error)") }
    }
  }

  /// A question of the node's own app.
  func ask(_ inquiry: Inquiry, _ reply: @escaping @Sendable (InquiryAnswer) -> Void) {
    lastNumber += 1
    replies[lastNumber] = reply
    inquire(inquiry, lastNumber)
  }

  /// The answer to a question at the door.
  func answer(_ answer: InquiryAnswer, _ number: UInt64) { replies.removeValue(forKey: number)?(answer) }

  func close() {
    adminSocket?.close()
    adminSocket = nil
    timer = nil
    for reply in replies.values { reply(.failed("the node has ended")) }
    replies = [:]
    // What was begun is finished: a file of a settled press must not be found again.
    disk.sync {}
  }
}

/// Crosses to a queue and back to the loop's thread, where alone the value is looked at.
///
/// `@unchecked Sendable`: `value` is only read on the loop's thread.
private final class Weak: @unchecked Sendable {
  weak var value: LocalServicesDriver?
  init(_ value: LocalServicesDriver) { self.value = value }
}
