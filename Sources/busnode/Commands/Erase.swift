import ArgumentParser
import RunBus

struct Erase: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove everything of a runner from this machine.",
    discussion: """
        busnode erase             shows what there is, asks, and removes it
        busnode erase --yes       without a question

      Removes records, stores, what waits in outboxes and in the spool, keys, sockets and locks of one bus. Files that \
      were exported elsewhere stay. End the nodes of the bus first. Other machines keep what they have: revoke this one \
      on the phone (busnode devices revoke).

      EXIT STATUS:
        0    removed, or there was nothing
        1    the answer was no
        74   something could not be removed
        75   a node of the bus runs; nothing was removed
      """)

  @Option(help: ArgumentHelp("The name of the bus on this machine.", valueName: "name"))
  var bus: BusName = "default"

  @Flag(help: "Do not ask.")
  var yes = false

  func run() async throws {
    let remains = BusRemains(of: bus)
    guard !remains.paths.isEmpty else { return Output.tell("bus \"\(bus)\" has nothing on this machine") }
    for path in remains.paths { Output.tell(path) }
    guard yes || Question.ask("Remove all of it, the records of all runs included? [y/N] ") else {
      throw Failure(code: "refused", message: "nothing was removed", exitStatus: ExitStatus.failure)
    }
    do {
      try remains.erase()
    } catch {
      guard error.code == .store else { throw Failure(error) }
      throw Failure(code: error.code.description, message: error.message, exitStatus: ExitStatus.diskError)
    }
    Output.tell("nothing of bus \"\(bus)\" is left on this machine")
  }
}
