import ArgumentParser
import RunBus

struct Erase: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Remove everything of a runner from this machine.",
    discussion: """
        busnode erase                      shows what there is, asks, and removes it
        busnode erase --bus default --yes  without a question
        busnode erase --together club      the rooms of a fleet, with the results of
                                           all its runners

      Removes records, stores, what waits in outboxes and in the spool, keys, sockets and locks of one bus. Files that \
      were exported elsewhere stay. End the nodes of the bus first. Other machines keep what they have: revoke this one \
      on the phone (busnode devices revoke).

      The question says which bus it is, and what named it: --bus, RUNBUS_BUS, a setting or the default. Without a \
      terminal --yes needs --bus (or --address): a script must not erase what a variable or a setting happens to name.

      The rooms of a fleet belong to all its runners: they stay when a bus is erased, with what its runner has written \
      there, and with the nickname. With --together they are removed, and no bus is.

      EXIT STATUS:
        0    removed, or there was nothing
        1    the answer was no
        64   without a terminal: not both --yes and --bus
        74   something could not be removed or lies behind a symbolic link, or its
             keys are damaged and do not tell which stores are its own
        75   a node of the bus runs, or a phone takes part in the fleet; nothing was
             removed
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Do not ask. Without a terminal this needs --bus or --address.")
  var yes = false

  @Option(help: ArgumentHelp("Remove the rooms of this fleet instead of a bus.", valueName: "name"))
  var together: BusName?

  func validate() throws {
    guard together == nil || (bus.bus == nil && bus.address == nil) else {
      throw ValidationError(Tongue.say(.eraseOneOf))
    }
  }

  func run() async throws {
    bus.startLog()
    if let together { return try eraseFleet(together) }
    let choice = try bus.choice()
    let name = Tongue.say(.busNamed, ["bus": choice.location.displayName])
    // A script must not erase what a variable or the default happens to name.
    guard !yes || StandardInput.isTerminal || choice.origin == .option else {
      throw Failure(
        code: "usage", message: Tongue.say(.eraseNeedsBus, ["bus": name, "origin": choice.originText]),
        exitStatus: ExitStatus.usage)
    }
    let remains = BusRemains(of: choice.location)
    guard !remains.paths.isEmpty else { return Output.tell(Tongue.say(.eraseNothing, ["bus": name])) }
    for path in remains.paths { Output.tell(path) }
    guard yes || StandardInput.isTerminal else {
      throw Failure(
        code: "usage", message: Tongue.say(.eraseNoTerminal),
        exitStatus: ExitStatus.usage)
    }
    guard yes || Prompt.ask(Self.question(choice)) else {
      throw Failure(code: "refused", message: Tongue.say(.nothingRemoved), exitStatus: ExitStatus.failure)
    }
    do {
      try remains.erase()
    } catch {
      guard error.code == .store else { throw Failure(error) }
      throw Failure(code: error.code.description, message: error.message, exitStatus: ExitStatus.diskError)
    }
    guard remains.ownerless.isEmpty else {
      throw Failure(
        code: "store",
        message: Tongue.say(.eraseOwnerless, ["bus": name, "paths": remains.ownerless.joined(separator: ", ")]),
        exitStatus: ExitStatus.diskError)
    }
    guard remains.links.isEmpty else {
      let links = remains.links.map { Tongue.say(.eraseLinkTo, ["path": $0.path, "target": $0.target]) }.joined(
        separator: ", ")
      throw Failure(
        code: "store",
        message: Tongue.say(.eraseLinks, ["bus": name, "links": links]), exitStatus: ExitStatus.diskError)
    }
    Output.tell(Tongue.say(.eraseDone, ["bus": name]))
    // What its runner has written in rooms.
    let key = "/" + MemberKey.name(of: choice.location.keyName)
    guard remains.paths.contains(where: { $0.hasSuffix(key) }) else { return }
    for fleet in LogPlace.all().map(\.name) {
      Output.tell(Tongue.say(.eraseRoomsStay, ["fleet": fleet]))
    }
  }

  private func eraseFleet(_ fleet: BusName) throws {
    let remains = FleetRemains(of: LogPlace(fleet))
    guard !remains.paths.isEmpty else { return Output.tell(Tongue.say(.fleetHasNothing, ["fleet": fleet])) }
    for path in remains.paths { Output.tell(path) }
    guard yes || StandardInput.isTerminal else {
      throw Failure(
        code: "usage",
        message: Tongue.say(.eraseFleetNoTerminal),
        exitStatus: ExitStatus.usage)
    }
    let question = Tongue.say(.eraseFleetAsk, ["fleet": fleet])
    guard yes || Prompt.ask(question) else {
      throw Failure(code: "refused", message: Tongue.say(.nothingRemoved), exitStatus: ExitStatus.failure)
    }
    do {
      try remains.erase()
    } catch {
      switch error {
      case .busy, .closed:
        throw Failure(
          code: "busHeld", message: Tongue.say(.eraseFleetBusy, ["fleet": fleet]),
          exitStatus: ExitStatus.busHeld)
      case .unavailable, .full:
        throw Failure(code: "store", message: error.description, exitStatus: ExitStatus.diskError)
      }
    }
    Output.tell(Tongue.say(.eraseFleetDone, ["fleet": fleet]))
  }

  static func question(_ choice: BusChoice) -> String {
    Tongue.say(.eraseAsk, ["bus": choice.location.displayName, "origin": choice.originText])
  }
}
