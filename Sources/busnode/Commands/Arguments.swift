public import ArgumentParser
import RunScripts
public import RunBus

extension Name: ExpressibleByArgument {
  /// A device's or bus's name on the command line.
  public init?(argument: String) { self.init(argument) }
}

extension CommandKind: ExpressibleByArgument {}
extension RecoveryChoice: ExpressibleByArgument {}
extension RecoveryAnswer: ExpressibleByArgument {}
extension Downtime: ExpressibleByArgument {}

/// A span of time as an argument: `90`, `12s`, `1m30s`, `1:30`.
struct TimeArgument: ExpressibleByArgument {
  let span: BusDuration

  init?(argument: String) {
    guard let span = DurationText.parse(argument), span > .zero else { return nil }
    self.span = span
  }
}

/// A speed as an argument: a factor.
struct SpeedArgument: ExpressibleByArgument {
  let speed: BusSpeed

  init(_ speed: BusSpeed) { self.speed = speed }

  init?(argument: String) {
    guard let factor = Double(argument), let speed = BusSpeed(factor: factor) else { return nil }
    self.speed = speed
  }

  var defaultValueDescription: String { "1" }
}

/// A port as an argument.
struct PortArgument: ExpressibleByArgument {
  let port: UInt16

  init?(argument: String) {
    guard let port = UInt16(argument), port > 0 else { return nil }
    self.port = port
  }
}

/// A number that counts from one as an argument.
struct NumberArgument: ExpressibleByArgument {
  let number: Int

  init?(argument: String) {
    guard let number = Int(argument), number > 0 else { return nil }
    self.number = number
  }
}

extension ControlSource {
  /// Reads the value of `--source`.
  init(option text: String) throws {
    guard let source = ControlSource(argument: text) else {
      throw ValidationError(Tongue.say(.sourceUnknown, ["text": text]))
    }
    self = source
  }
}

extension RunGoal {
  /// Reads the value of `--goal`.
  init(option text: String) throws {
    guard let goal = GoalText.parse(text) else {
      throw ValidationError(Tongue.say(.noGoal, ["text": text, "rule": GoalText.bounds]))
    }
    self = goal
  }
}
