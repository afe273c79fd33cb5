import RunCore
import SwiftProtobuf

// Requests, which need no session.
extension Codec {
  static func message(_ request: Request) -> WireRequest {
    var message = WireRequest()
    message.version = request.version
    switch request.subject {
    case .command(let request): message.command = self.message(request)
    case .state: message.state = WireQuery()
    case .inquiry(let inquiry): message.inquiry = self.message(inquiry)
    }
    return message
  }

  static func value(_ message: WireRequest) throws(WireError) -> Request {
    do throws(WireError) {
      let subject: Request.Subject
      switch message.subject {
      case .command(let request): subject = .command(try value(request))
      case .state: subject = .state
      case .inquiry(let inquiry): subject = .inquiry(try value(inquiry))
      case nil: throw .malformed("request without a subject that is known")
      }
      return Request(subject, version: message.version)
    } catch {
      // In another version the other fields may have another meaning, and a request of version 2 stated none.
      throw message.version == wireVersion ? error : .versionMismatch(message.version)
    }
  }

  private static func message(_ request: CommandRequest) -> WireCommandRequest {
    var message = WireCommandRequest()
    message.command = self.message(request.command)
    message.deviceID = request.deviceID.rawValue
    message.ageNs = max(0, request.age.nanoseconds)
    message.uncertain = request.isUncertain
    if let pressed = request.pressed, let bootID = try? word(pressed.bootID, "boot id") {
      message.pressed.bootID = bootID
      message.pressed.monotonicNs = pressed.reading.nanoseconds
    }
    return message
  }

  private static func value(_ message: WireCommandRequest) throws(WireError) -> CommandRequest {
    guard message.hasCommand else { throw .malformed("request without a command") }
    return CommandRequest(
      command: try value(message.command), deviceID: try device(message.deviceID),
      age: try span(message.ageNs, "command age"), isUncertain: message.uncertain,
      pressed: message.hasPressed
        ? MachineTime(
          bootID: try word(message.pressed.bootID, "boot id"),
          reading: BusTime(nanoseconds: message.pressed.monotonicNs))
        : nil)
  }
}
