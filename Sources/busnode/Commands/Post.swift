import ArgumentParser
import RunBus

struct Post: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post",
    abstract: "Send a message of an app between the hub and a device, through a node on this machine.",
    discussion: """
        busnode post greeting hello             from the watch to the phone
        busnode post greeting hello --to watch  from the phone to the watch
        busnode post note - --from watch2 < note.txt
        busnode post units km --class latest --to watch
        busnode post photo - --wait processed < photo.jpg
        busnode listen                          receives messages
        busnode monitor                         shows each message when its receiver
                                                has processed it

      The class says what is promised. queued: every message arrives, in order, however long the other side is away. \
      latest: the newest value of a key arrives, and may replace one that has not (busnode latest). live: it is sent now \
      or not at all. RunBus does not read the content. The sending node must run on this machine. Until a message has \
      arrived busnode outbox lists it, and it can be cancelled if it was never sent.

      With --wait processed the command ends when the receiver has processed the message: its app's handler or busnode \
      listen has, or the value is stored there.

      EXIT STATUS:
        0   the sending node has stored the message and will deliver it, or has sent
            it (live); with --wait processed: it is processed
        3   the sending node refused it: it does not know the receiver, or its
            outbox is full; with --wait processed also: it was set aside, or expired
        4   with --wait processed: a newer value has replaced it
        5   with --wait processed: it is stored and not processed yet
        64  the name or key is not 1 to 64 bytes without control characters, or the
            body has more than 32,768 bytes
        69  the sending node does not run on this machine, or the receiver of a live
            message is not in reach
      """)

  @Argument(help: "The message's name.")
  var name: String

  @Argument(help: "The message's text, or - for standard input; empty by default.")
  var body = ""

  @Option(name: .customLong("class"), help: "What is promised.")
  var word = ClassWord.queued

  @Option(help: ArgumentHelp("With --class latest: the key (default: the name).", valueName: "key"))
  var key: String?

  @Option(
    help: ArgumentHelp("Send from the hub to this device, instead of to the hub.", valueName: "device"),
    completion: Completions.devices)
  var to: DeviceID?

  @Option(
    help: ArgumentHelp(
      "The device that sends it (default: the watch; with --to the phone).", valueName: "device"),
    completion: Completions.devices)
  var from: DeviceID?

  @Option(help: "How far to wait for it.")
  var wait = PostWait.stored

  @Option(help: ArgumentHelp("With --wait processed: how long (default: 30).", valueName: "time"))
  var timeout: TimeArgument?

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func validate() throws {
    guard AppMessage(id: MessageID(high: 0, low: 0), name: name, body: Array(body.utf8)).isCarried,
      key.map(AppMessage.isName) ?? true
    else {
      throw ValidationError(
        Tongue.say(.postBounds, ["names": AppMessage.nameMax, "bodies": AppMessage.bodyMax])
      )
    }
    guard key == nil || word == .latest else { throw ValidationError(Tongue.say(.keyIsForLatest)) }
    guard word != .live || wait == .stored else {
      throw ValidationError(Tongue.say(.liveIsUnknown))
    }
    guard timeout == nil || wait == .processed else { throw ValidationError(Tongue.say(.timeoutIsForProcessed)) }
  }

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let sender = from ?? DeviceID.role(to == nil ? .watch : .phone)
    let message = AppMessage(id: .random(), name: name, body: try MessageBody.bytes(body))
    guard let stage = try await give(message, to: LocalDevices(location: location), of: sender) else {
      throw Failure.notRunning(sender, location)
    }
    let receiver = to?.rawValue ?? Tongue.say(.theHub)
    let what = "\(name) \(Sentence.short(message.id.description))"
    let told =
      switch stage {
      case .queued where wait == .processed:
        Tongue.say(
          .postUnprocessed, ["what": what, "sender": sender, "receiver": receiver, "time": Sentence.seconds(patience)])
      case .queued, .delivered: Tongue.say(.postWaits, ["what": what, "sender": sender, "receiver": receiver])
      case .sent: Tongue.say(.postSent, ["what": what, "receiver": receiver])
      case .processed: Tongue.say(.postProcessed, ["what": what, "receiver": receiver])
      case .replaced: Tongue.say(.postReplaced, ["what": what, "receiver": receiver])
      case .rejected(let reason):
        Tongue.say(.postRejected, ["what": what, "receiver": receiver, "reason": reason.code])
      }
    if json {
      let (word, reason) = stage.words
      Output.tell(
        json: PostJSON(
          deviceId: sender.rawValue, id: message.id.description, newId: nil, message: told, stage: word, reason: reason)
      )
    } else {
      Output.tell(told)
    }
    let status = status(of: stage)
    if status != ExitStatus.success { throw QuietExit(exitStatus: status) }
  }

  private var patience: BusDuration { timeout?.span ?? .seconds(30) }

  /// Gives the message to its node; `nil` when that does not run.
  private func give(
    _ message: AppMessage, to devices: LocalDevices, of sender: DeviceID
  ) async throws -> DeliveryStage? {
    do {
      // An older node knows this question, and not the one about classes.
      if word == .queued, wait == .stored {
        return try await devices.askRunning(.post(message, to: to), of: sender).map { _ in .queued }
      }
      let deliveryClass: DeliveryClass =
        switch word {
        case .live: .live
        case .latest: .latest(key: key ?? name)
        case .queued: .queued
        }
      let patience = wait == .processed ? patience : nil
      return try await devices.askRunning(
        .send(message, by: deliveryClass, to: to, patience: patience), of: sender,
        within: LocalDevices.patience + (patience ?? .zero))
    } catch let error as RunBusError where error.failure != nil {
      let isAway = error.code == .unreachable
      throw Failure(
        code: "notPosted", message: error.message, exitStatus: isAway ? ExitStatus.noBus : ExitStatus.rejected)
    }
  }

  private func status(of stage: DeliveryStage) -> Int32 {
    switch stage {
    case .sent, .processed: ExitStatus.success
    case .queued, .delivered: wait == .processed ? ExitStatus.queued : ExitStatus.success
    case .replaced: ExitStatus.superseded
    case .rejected: ExitStatus.rejected
    }
  }
}
