import ArgumentParser
import RunBus

struct Erase: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
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
    guard together == nil || (bus.named.bus == nil && bus.address == nil) else {
      throw ValidationError("--together removes the rooms of a fleet, --bus what a bus has: give one of them")
    }
  }

  func run() async throws {
    bus.startLog()
    if let together { return try eraseFleet(together) }
    let choice = try bus.choice()
    let name = "bus \"\(choice.location.displayName)\""
    // A script must not erase what a variable or the default happens to name.
    guard !yes || StandardInput.isTerminal || choice.origin == .option else {
      throw Failure(
        code: "usage", message: "\(name) comes from \(choice.originText): without a terminal erase --yes needs --bus",
        exitStatus: ExitStatus.usage)
    }
    let remains = BusRemains(of: choice.location)
    guard !remains.paths.isEmpty else { return Output.tell("\(name) has nothing on this machine") }
    for path in remains.paths { Output.tell(path) }
    guard yes || StandardInput.isTerminal else {
      throw Failure(
        code: "usage", message: "there is no terminal to ask at: erase --yes --bus NAME removes it without a question",
        exitStatus: ExitStatus.usage)
    }
    guard yes || Prompt.ask(Self.question(choice)) else {
      throw Failure(code: "refused", message: "nothing was removed", exitStatus: ExitStatus.failure)
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
        message: "the keys of \(name) were damaged, so whether these stores are its own is not known: remove by hand "
          + "which are: \(remains.ownerless.joined(separator: ", "))", exitStatus: ExitStatus.diskError)
    }
    guard remains.links.isEmpty else {
      let links = remains.links.map { "\($0.path) (to \($0.target))" }.joined(separator: ", ")
      throw Failure(
        code: "store",
        message: "a symbolic link is not followed, because others may have files where it leads; what \(name) has "
          + "there is left: remove by hand the link and what it leads to: \(links)", exitStatus: ExitStatus.diskError)
    }
    Output.tell("nothing of \(name) is left on this machine")
    // What its runner has written in rooms.
    let key = "/" + MemberKey.name(of: choice.location.keyName)
    guard remains.paths.contains(where: { $0.hasSuffix(key) }) else { return }
    for fleet in LogPlace.all().map(\.name) {
      Output.tell("the rooms of \(fleet) stay, which belong to all their runners: busnode erase --together \(fleet)")
    }
  }

  private func eraseFleet(_ fleet: BusName) throws {
    let remains = FleetRemains(of: LogPlace(fleet))
    guard !remains.paths.isEmpty else { return Output.tell("the fleet \(fleet) has nothing on this machine") }
    for path in remains.paths { Output.tell(path) }
    guard yes || StandardInput.isTerminal else {
      throw Failure(
        code: "usage",
        message: "there is no terminal to ask at: erase --yes --together NAME removes it without a question",
        exitStatus: ExitStatus.usage)
    }
    let question = "Remove all rooms of fleet \"\(fleet)\", the results of all its runners included? [y/N] "
    guard yes || Prompt.ask(question) else {
      throw Failure(code: "refused", message: "nothing was removed", exitStatus: ExitStatus.failure)
    }
    do {
      try remains.erase()
    } catch {
      switch error {
      case .busy, .closed:
        throw Failure(
          code: "busHeld", message: "a phone takes part in the rooms of \(fleet): end it first; nothing was removed",
          exitStatus: ExitStatus.busHeld)
      case .unavailable, .full:
        throw Failure(code: "store", message: error.description, exitStatus: ExitStatus.diskError)
      }
    }
    Output.tell("nothing of the fleet \(fleet) is left on this machine")
  }

  static func question(_ choice: BusChoice) -> String {
    "Remove all of bus \"\(choice.location.displayName)\" (from \(choice.originText)), the records of all runs included? "
      + "[y/N] "
  }
}
