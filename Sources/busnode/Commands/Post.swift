import ArgumentParser
import RunBus

struct Post: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Send a message of an app between the hub and a device, through a node on this machine.",
    discussion: """
        busnode post greeting hello             from the watch to the phone
        busnode post greeting hello --to watch  from the phone to the watch
        busnode post note "$(cat note.txt)" --from watch2
        busnode monitor                         shows each message when its receiver
                                                has processed it

      This does what apps do with post(_:by:) of the library and the class .queued: every message arrives, in order, \
      however long the other side is away. RunBus does not read its content. The sending node must run on this machine. \
      Until a message has arrived busnode outbox lists it, and it can be cancelled if it was never sent.

      EXIT STATUS:
        0   the sending node has stored the message and will deliver it
        3   the sending node refused it: it does not know the receiver, or its
            outbox is full
        64  the name is not 1 to 64 bytes without control characters, or the body
            has more than 32,768 bytes
        69  the sending node does not run on this machine
      """)

  @Argument(help: "The message's name.")
  var name: String

  @Argument(help: "The message's text; empty by default.")
  var body = ""

  @Option(help: ArgumentHelp("Send from the hub to this device, instead of to the hub.", valueName: "device"))
  var to: DeviceID?

  @Option(
    help: ArgumentHelp(
      "The device that sends it (default: the watch; with --to the phone).", valueName: "device"))
  var from: DeviceID?

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func validate() throws {
    guard AppMessage(id: MessageID(high: 0, low: 0), name: name, body: Array(body.utf8)).isCarried else {
      throw ValidationError(
        "a name is 1 to \(AppMessage.nameMax) bytes without control characters, a body at most \(AppMessage.bodyMax) bytes"
      )
    }
  }

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let sender = from ?? DeviceID.role(to == nil ? .watch : .phone)
    let message = AppMessage(id: .random(), name: name, body: Array(body.utf8))
    let posted = try await refusing(code: "notPosted", ExitStatus.rejected) {
      try await LocalDevices(location: location).askRunning(.post(message, to: to), of: sender)
    }
    guard posted != nil else {
      throw Failure(
        code: "unreachable", message: "\(sender) does not run on this machine, on bus \(location.displayName)",
        exitStatus: ExitStatus.noBus)
    }
    let told =
      "\(name) \(Sentence.short(message.id.description)) waits on \(sender) to be delivered to \(to?.rawValue ?? "the hub")"
    if json {
      let act = OutboxActJSON(
        act: .posted, deviceId: sender.rawValue, id: message.id.description, newId: nil, message: told)
      Output.tell(json: act)
    } else {
      Output.tell(told)
    }
  }
}
