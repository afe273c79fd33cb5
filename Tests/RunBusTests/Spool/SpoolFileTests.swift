import Foundation
import RunCore
import SwiftProtobuf
import Testing

@testable import RunBus
@testable import RunWire

@Suite("Files of a spool that were changed, and files of other versions")
struct SpoolFileTests {
  private let scratch: ScratchDirectory
  private let spool: SpoolDirectory

  init() throws {
    scratch = try ScratchDirectory()
    spool = SpoolDirectory(path: scratch.file("bus/_spool"))
  }

  private func command(_ number: UInt64) -> SpooledCommand {
    .now(Command(id: CommandID(high: 1, low: number), kind: .pause, source: .shell), on: DeviceID("shell"))
  }
  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: spool.path).sorted() }

  /// Writes a command and then its file again with other contents.
  private func rewrite(_ change: (inout WireStoredPress) throws -> Void) throws -> [UInt8] {
    try spool.write(command(1))
    let path = URL(filePath: spool.path + "/" + (try names()[0]))
    var message = try WireStoredPress(serializedBytes: Array(try Data(contentsOf: path).dropLast(4)))
    try change(&message)
    let bytes = Codec.seal(try message.serializedBytes())
    try Data(bytes).write(to: path)
    return bytes
  }

  @Test("A conditional press keeps its condition, also when a try was counted")
  func condition() throws {
    var press = Command(id: CommandID(high: 1, low: 9), kind: .pause, source: .shell)
    press.ifRevision = 4
    try spool.write(.now(press, on: DeviceID("shell")))
    var read = try #require(spool.list().commands.first)
    read.tries += 1
    try spool.write(read)
    #expect(spool.list().commands.first?.command == press)
  }

  @Test("A command that no hub would accept is damaged too", arguments: 0...7)
  func untakable(flaw: Int) throws {
    let bytes = try rewrite { message in
      switch flaw {
      case 0: message.command.kind = .unspecified
      case 1: message.command.base.revision = 9_999_999_999_999_999_999
      case 2: message.deviceID = "../x"
      case 3: message.command.source = ""
      case 4: message.wallSeconds = .infinity
      case 5: message.clearPressed()
      case 6: message.command.id = Data([1])
      default: break
      }
    }
    if flaw == 7 {
      // A file with the name of another command.
      try Data(bytes).write(to: URL(filePath: spool.path + "/\(command(2).command.id).press"))
      try spool.remove(command(1).command.id)
    }
    let found = spool.list()
    #expect(found.commands == [])
    #expect(found.notices.count == 1)
    #expect(try names().count == 1 && names()[0].hasSuffix(".damaged"))
  }

  @Test("A file with a changed byte is no command")
  func changedByte() throws {
    try spool.write(command(1))
    let path = URL(filePath: spool.path + "/" + (try names()[0]))
    let whole = try Data(contentsOf: path)
    for place in [0, 1, whole.count / 2, whole.count - 1] {
      var bytes = whole
      bytes[place] ^= 4
      #expect(throws: StoredError.damaged) { try SpooledCommand(bytes: Array(bytes)) }
    }
    try Data(whole.dropLast()).write(to: path)
    #expect(spool.list().commands == [] && spool.list().notices == [])
  }

  @Test("A field that a newer version has added is still there after this one has counted a try")
  func unknownFields() throws {
    let field = Data([0xA2, 0x06, 2, 7, 7])
    _ = try rewrite { message in
      try message.merge(serializedBytes: field)
      try message.command.merge(serializedBytes: field)
    }
    var read = try #require(spool.list().commands.first)
    read.tries += 1
    try spool.write(read)
    let bytes = try Data(contentsOf: URL(filePath: spool.path + "/" + (try names()[0])))
    let message = try WireStoredPress(serializedBytes: Array(bytes.dropLast(4)))
    #expect(message.tries == 1 && message.unknownFields.data == field && message.command.unknownFields.data == field)
  }

  @Test("A command of a newer version is left for that version")
  func newer() throws {
    let bytes = try rewrite { $0.command.kind = .UNRECOGNIZED(77) }
    let file = try names()
    for _ in 1...2 {
      let found = spool.list()
      #expect(found.commands == [])
      #expect(found.notices.first?.contains("newer") == true)
      #expect(try names() == file && Data(contentsOf: URL(filePath: spool.path + "/" + file[0])) == Data(bytes))
    }
  }

  // Once broken: A line for each file; three thousand presses of a later version filled the screen.
  @Test("One line says how many commands are of a newer version")
  func newerOnes() throws {
    for number in 1...3 as ClosedRange<UInt64> { try spool.write(command(number)) }
    for name in try names() {
      let path = URL(filePath: spool.path + "/" + name)
      var message = try WireStoredPress(serializedBytes: Array(try Data(contentsOf: path).dropLast(4)))
      message.command.kind = .UNRECOGNIZED(77)
      try Data(Codec.stored(message)).write(to: path)
    }
    let found = spool.list()
    #expect(found.commands == [] && found.notices.count == 1)
    #expect(found.notices.first?.hasPrefix("3 file(s) in the spool") == true, "\(found.notices)")
  }

  // Once broken: Such a file was never named: its repaired name is that of no file.
  @Test("A file whose name is not UTF-8 is named and left", .enabled(if: Self.namesAreBytes, "APFS has no such names"))
  func foreignName() throws {
    try spool.make()
    let path = Array(spool.path.utf8) + [UInt8(ascii: "/"), 0xFF, 0xFE, 0x1B] + Array(".press".utf8) + [0]
    let descriptor = path.withUnsafeBytes {
      open($0.baseAddress!.assumingMemoryBound(to: CChar.self), O_CREAT | O_WRONLY, 0o600)
    }
    #expect(descriptor >= 0)
    close(descriptor)
    for _ in 1...2 {
      let found = spool.list()
      #expect(found.notices.count == 1 && found.notices[0].contains("its name is not UTF-8"), "\(found.notices)")
      #expect(found.notices.first?.contains("\u{1B}") == false)
    }
  }

  private static var namesAreBytes: Bool {
    #if canImport(Darwin)
      false
    #else
      true
    #endif
  }

  @Test("A command of an older version, whose file is JSON, is left for that version")
  func older() throws {
    try spool.make()
    let name = "\(CommandID(high: 7, low: 7)).json"
    try Data(#"{"version":1,"command":{}}"#.utf8).write(to: URL(filePath: spool.path + "/" + name))
    for _ in 1...2 {
      let found = spool.list()
      #expect(found.commands == [])
      #expect(found.notices.count == 1 && found.notices[0].contains("older"), "\(found.notices)")
      #expect(try names() == [name])
    }
  }
}
