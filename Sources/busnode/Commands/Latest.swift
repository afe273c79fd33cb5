import ArgumentParser
import RunBus

struct Latest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latest",
    abstract: "Show the newest values that other devices have sent to a device of this machine.",
    discussion: """
        busnode latest                       the keys at the phone, sender, age
                                               and size
        busnode latest units                 the value, as it is
        busnode latest units --device watch  what the hub has sent to the watch
        busnode post units km --class latest   sends one

      A running node is asked, the store of a stopped one is read. The age is known of values that came since the node \
      began.

      --json writes key, fromDeviceId, name, bytes and ageSeconds of each; with KEY what busnode listen --json writes.

      EXIT STATUS:
        0   success
        1   no device has sent a value of this key
        64  several devices have sent one: give --from
        75  the store could not be read, because the process that holds it does not
            answer
      """)

  @Argument(help: "The key.")
  var key: MessageNameArgument?

  @Option(
    help: ArgumentHelp("The device whose values to show.", valueName: "name"),
    completion: Completions.devices)
  var device = DeviceID.role(.phone)

  @Option(
    help: ArgumentHelp("Only what this device has sent.", valueName: "name"),
    completion: Completions.devices)
  var from: DeviceID?

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let devices = LocalDevices(location: try bus.location())
    if let key { return try await show(key.name, at: devices) }
    var reports: [ValueReport] = []
    while true {
      let page = try await devices.ask(.values(from: reports.count), of: device)
      reports += page.values
      if page.values.isEmpty || reports.count >= page.total { break }
    }
    let rows = reports.map { ValueJSON($0) }.filter { from == nil || $0.fromDeviceId == from?.rawValue }
    if json {
      for row in rows { try Output.jsonLine(row) }
    } else if rows.isEmpty {
      try Output.line(Tongue.say(.nobodySentValue, ["device": device]))
    } else {
      let words = rows.map { [$0.key, $0.fromDeviceId, $0.ageSeconds.map { Sentence.age($0) } ?? "-", "\($0.bytes)"] }
      for line in Columns.lines(
        [Tongue.say(.headingKey), Tongue.say(.headingFrom), Tongue.say(.headingAge), Tongue.say(.headingBytes)], words,
        leftColumns: 2)
      { try Output.line(line) }
    }
  }

  private func show(_ key: String, at devices: LocalDevices) async throws {
    let received: ReceivedMessage
    do {
      received = try await devices.ask(.value(of: key, from: from), of: device)
    } catch let error as RunBusError where error.failure?.code == .invalid {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    } catch let error as RunBusError where error.failure?.code == .notFound {
      throw Failure(code: "notFound", message: error.message, exitStatus: ExitStatus.failure)
    }
    if json { return try Output.jsonLine(ListenedJSON(received)) }
    try Output.content(received.message.body)
  }
}
