import ArgumentParser
import RunBus

struct Recover: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Decide about a run that was on when the phone died.",
    discussion: """
        busnode recover resume   the run continues; the time until now is not active
                                 time
        busnode recover finish   the run ends at the time when the phone died
        busnode recover discard  the same, but the run does not become a record

      For a phone that asks (busnode phone --recover ask); "recovering" in busnode state --json is true then. This \
      command works on the phone's own machine. On other machines press a button: stop finishes the run, any other \
      button resumes it first.

      EXIT STATUS:
        0   the phone has accepted the decision
        1   no run waits for an answer
        69  no phone of this bus runs on this machine
      """)

  @Argument(help: "resume, finish or discard.")
  var answer: RecoveryAnswer

  @OptionGroup var bus: BusOptions

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    if location.isWithoutHub { throw Failure.noBus(location) }
    let devices = LocalDevices(location: location)
    for device in try devices.all() {
      do {
        guard try await devices.askRunning(.recover(answer), of: device) != nil else { continue }
        return Output.tell(
          answer == .resume
            ? Tongue.say(.recoverResumed)
            : answer == .finish ? Tongue.say(.recoverFinished) : Tongue.say(.recoverDiscarded))
      } catch let error as RunBusError where error.code == .notRecovering {
        throw Failure(code: "nothingToRecover", message: error.message, exitStatus: ExitStatus.failure)
      } catch let error as RunBusError where error.failure != nil {
        // A peer.
        continue
      }
    }
    throw Failure(
      code: "noBus", message: Tongue.say(.noPhoneHere, ["bus": location.displayName]),
      exitStatus: ExitStatus.noBus)
  }
}
