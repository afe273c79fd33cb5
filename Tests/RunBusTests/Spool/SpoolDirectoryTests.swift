import Foundation
import RunCore
import Synchronization
import Testing

@testable import RunBus

@Suite("A spool keeps each command as one file")
struct SpoolDirectoryTests {
  private let scratch: ScratchDirectory
  private let spool: SpoolDirectory
  private let shell: DeviceID

  init() throws {
    scratch = try ScratchDirectory()
    spool = SpoolDirectory(path: scratch.file("bus/_spool"))
    shell = DeviceID("shell")
  }

  private func command(_ number: UInt64, kind: CommandKind = .pause) -> SpooledCommand {
    .now(Command(id: CommandID(high: 1, low: number), kind: kind, source: .shell), on: shell)
  }
  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: spool.path).sorted() }

  /// Puts a file with the given contents into the spool.
  private func place(_ text: String, as name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: spool.path + "/" + name))
  }
  private func age(_ name: String, bySeconds seconds: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: spool.path + "/" + name)
  }

  @Test("Written commands are listed in press order, by any process, until they are removed")
  func roundTrip() throws {
    #expect(spool.list().commands == [])
    #expect(spool.list().notices == [])
    let commands = [command(9), command(2), command(5, kind: .start)]
    for command in commands.shuffled() { try spool.write(command) }
    let again = SpoolDirectory(path: spool.path)
    #expect(again.list().commands == commands)
    #expect(again.list().notices == [])
    #expect(again.exists(commands[1].command.id))
    try again.remove(commands[1].command.id)
    try again.remove(commands[1].command.id)
    #expect(!spool.exists(commands[1].command.id))
    #expect(spool.list().commands == [commands[0], commands[2]])
  }

  @Test("Only its owner may read the spool, and it contains nothing but the commands")
  func modes() throws {
    try spool.write(command(1))
    #expect(try mode(of: scratch.file("bus")) == 0o700)
    #expect(try mode(of: spool.path) == 0o700)
    #expect(try names() == ["\(command(1).command.id).press"])
    #expect(try mode(of: spool.path + "/" + names()[0]) == 0o600)
  }

  @Test("Writing a command again replaces it: its tries are counted")
  func replaced() throws {
    var command = command(1)
    try spool.write(command)
    command.tries = 3
    try spool.write(command)
    #expect(spool.list().commands == [command])
    #expect(try names().count == 1)
  }

  @Test("Any number of senders write in parallel, and a reader sees whole commands only")
  func sideBySide() async throws {
    let (spool, shell) = (spool, shell)
    try spool.make()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for sender in 1...16 as ClosedRange<UInt64> {
        group.addTask {
          for number in 1...10 as ClosedRange<UInt64> {
            let id = CommandID(high: sender, low: number)
            try spool.write(.now(Command(id: id, kind: .lap, source: .shell), on: shell))
          }
        }
      }
      group.addTask {
        for _ in 1...50 {
          let seen = spool.list()
          #expect(seen.notices == [])
          #expect(seen.commands.allSatisfy { $0.command.kind == .lap })
        }
      }
      try await group.waitForAll()
    }
    #expect(spool.list().commands.count == 160)
    #expect(try names().count == 160)
  }

  @Test("A command that is being written is invisible until it is complete and on the disk")
  func wholeOrNothing() throws {
    let seen = Mutex<[SpoolFiles.Step: Int]>([:])
    let spool = spool
    let watched = SpoolDirectory(path: spool.path) { step in
      let (commands, notices) = spool.list()
      #expect(notices == [])
      seen.withLock { $0[step] = commands.count }
      return 0
    }
    try watched.write(command(1))
    #expect(seen.withLock { $0 } == [.create: 0, .write: 0, .sync: 0, .rename: 0, .syncDirectory: 1])
  }

  @Test("A disk that fails at any step gives one sentence, and nothing is left", arguments: SpoolFiles.Step.allCases)
  func failures(step: SpoolFiles.Step) throws {
    guard step != .remove, step != .open else { return }
    for code in [ENOSPC, EROFS, EIO, EACCES] {
      let failing = SpoolDirectory(path: spool.path) { $0 == step ? code : 0 }
      let error = #expect(throws: RunBusError.self) { try failing.write(command(1)) }
      #expect(error?.code == .store)
      #expect(error?.message.hasSuffix(String(cString: strerror(code))) == true)
      #expect(error?.message.contains("\n") == false)
      #expect(try names() == [])
    }
  }

  @Test("A failed replacement keeps the old file", arguments: SpoolFiles.Step.allCases)
  func failingReplacement(step: SpoolFiles.Step) throws {
    guard step != .remove, step != .open else { return }
    try spool.write(command(1))
    let failing = SpoolDirectory(path: spool.path) { $0 == step ? ENOSPC : 0 }
    #expect(throws: RunBusError.self) { try failing.write(command(1)) }
    #expect(spool.exists(command(1).command.id))
    #expect(try names().count == 1)
  }

  // Once broken: A press in the spool that could not be read at the moment was set aside as damaged, and stores in a
  // directory that cannot be listed counted as missing.
  @Test("A command that cannot be read at the moment stays, and is read later", arguments: [EACCES, EIO])
  func unreadable(code: CInt) throws {
    try spool.write(command(1))
    let failing = SpoolDirectory(path: spool.path) { $0 == .open ? code : 0 }
    let seen = failing.list()
    #expect(seen.commands == [] && seen.notices.count == 1)
    #expect(seen.notices.first?.contains("is left as it is: \(String(cString: strerror(code)))") == true)
    #expect(spool.list().commands.map(\.command.id) == [command(1).command.id])
    #expect(spool.list().notices == [])
  }

  @Test("A removal that fails is reported")
  func failingRemoval() throws {
    try spool.write(command(1))
    for step in [SpoolFiles.Step.remove, .syncDirectory] {
      let failing = SpoolDirectory(path: spool.path) { $0 == step ? EROFS : 0 }
      #expect(#expect(throws: RunBusError.self) { try failing.remove(command(1).command.id) }?.code == .store)
    }
  }

  @Test("A sender that slept while its file was cleaned up writes it again")
  func tidiedAway() throws {
    let sleeps = Mutex(1)
    let sleepy = SpoolDirectory(path: spool.path) { step in
      guard step == .rename else { return 0 }
      return sleeps.withLock { count in
        defer { count -= 1 }
        return count > 0 ? ENOENT : 0
      }
    }
    try sleepy.write(command(1))
    #expect(try names() == ["\(command(1).command.id).press"])
  }

  @Test("A path at which no directory can be made gives one sentence")
  func impossiblePlaces() throws {
    let file = scratch.file("file")
    try Data().write(to: URL(filePath: file))
    for place in [file, file + "/_spool", "/proc/nothing/_spool"] {
      let error = #expect(throws: RunBusError.self) { try SpoolDirectory(path: place).write(command(1)) }
      #expect(error?.code == .store)
      #expect(error?.message.contains("\n") == false)
      #expect(SpoolDirectory(path: place).changeStamp == nil)
    }
    #expect(SpoolDirectory(path: file).list().notices.count == 1)
  }

  @Test("A full spool refuses another command and says what to do; waiting ones can still be replaced")
  func bound() throws {
    try spool.write(command(1))
    for number in 2...SpoolDirectory.commandsMax { try place("", as: "\(number).press") }
    let error = #expect(throws: RunBusError.self) { try spool.write(command(2)) }
    #expect(error?.code == .full)
    #expect(error?.message.contains("1024 commands wait") == true)
    try spool.write(command(1))
    try spool.remove(command(1).command.id)
    try spool.write(command(2))
  }

  @Test(
    "A file that is not a command is set aside unchanged and reported once",
    arguments: [
      "", "{", "[]", "{}", "null", "\u{0}\u{1}", #"{"version":1}"#, #"{"version":-1}"#, #"{"version":"1"}"#,
      String(repeating: "[", count: 10_000), String(repeating: "x", count: 20_000),
    ])
  func damaged(text: String) throws {
    try spool.write(command(1))
    let name = "\(CommandID(high: 7, low: 7)).press"
    try place(text, as: name)
    let first = spool.list()
    #expect(first.commands.count == 1)
    #expect(first.notices.count == 1)
    #expect(first.notices.first?.contains("\(name).damaged") == true)
    #expect(first.notices.first?.contains("\n") == false)
    #expect(spool.list().notices == [])
    #expect(try Data(contentsOf: URL(filePath: spool.path + "/\(name).damaged")) == Data(text.utf8))
    // Another file of the same name does not replace it.
    try place("again", as: name)
    #expect(spool.list().notices.count == 1)
    #expect(try names().count { $0.hasSuffix(".damaged") } == 2)
    #expect(try Data(contentsOf: URL(filePath: spool.path + "/\(name).damaged")) == Data(text.utf8))
  }

  @Test("Links, directories, pipes and files of other users are set aside unread")
  func foreign() throws {
    try spool.make()
    let elsewhere = scratch.file("elsewhere")
    try Data("precious".utf8).write(to: URL(filePath: elsewhere))
    try FileManager.default.createSymbolicLink(atPath: spool.path + "/link.press", withDestinationPath: elsewhere)
    try FileManager.default.createDirectory(atPath: spool.path + "/folder.press", withIntermediateDirectories: false)
    #expect(mkfifo(spool.path + "/pipe.press", 0o600) == 0)
    try place("notes", as: "notes\u{1B}[31m.txt")
    let found = spool.list()
    #expect(found.commands == [])
    #expect(found.notices.count == 4)
    #expect(found.notices.allSatisfy { !$0.contains("\u{1B}") })
    #expect(try names().allSatisfy { $0.hasSuffix(".damaged") })
    #expect(try String(contentsOfFile: elsewhere, encoding: .utf8) == "precious")
    #expect(spool.list().notices == [])
  }

  @Test("The half-written file of a dead sender is never a command, and is removed after a minute")
  func abandoned() throws {
    try spool.write(command(1))
    try place("{", as: ".old.tmp")
    try age(".old.tmp", bySeconds: 70)
    try place("{", as: ".young.tmp")
    try place("", as: ".DS_Store")
    try age(".DS_Store", bySeconds: 70)
    let found = spool.list()
    #expect(found.commands.count == 1)
    #expect(found.notices == [])
    #expect(try names() == [".DS_Store", ".young.tmp", "\(command(1).command.id).press"])
  }

  @Test("The stamp changes with every added or removed command, and only then")
  func stamp() throws {
    #expect(spool.changeStamp == nil)
    try spool.write(command(1))
    // Sets an old modification time, as of a spool that has not changed for long.
    func settle() throws {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -100)], ofItemAtPath: spool.path)
    }
    try settle()
    let first = try #require(spool.changeStamp)
    #expect(spool.list().commands.count == 1)
    #expect(spool.changeStamp == first)
    try spool.write(command(2))
    #expect(spool.changeStamp != first)
    try settle()
    let second = spool.changeStamp
    try spool.remove(command(1).command.id)
    #expect(spool.changeStamp != second)
  }

  @Test("A stamp made right after a change is not trusted later, because the next change may have the same time")
  func unsettled() throws {
    try spool.write(command(1))
    let now = Date().timeIntervalSince1970
    let early = try #require(SpoolStamp(directory: spool.path, wallSeconds: now))
    #expect(SpoolStamp(directory: spool.path, wallSeconds: now) == early)
    let late = SpoolStamp(directory: spool.path, wallSeconds: now + 10)
    #expect(late != early)
    #expect(SpoolStamp(directory: spool.path, wallSeconds: now + 1_000) == late)
  }

  @Test("A machine has met a bus once the spool exists, and no device's store conflicts with it")
  func met() throws {
    for (name, address) in [("a", nil), (nil, "tcp://127.0.0.1:5570")] as [(String?, String?)] {
      let bus = try BusLocation(bus: name, address: address, environment: ["XDG_STATE_HOME": scratch.path])
      #expect(!bus.isMet)
      try FileManager.default.createDirectory(
        atPath: bus.stateDirectory(for: shell), withIntermediateDirectories: true)
      #expect(!bus.isMet)
      try bus.setMet()
      try bus.setMet()
      #expect(bus.isMet)
      #expect(bus.spool.list().commands == [])
      #expect(DeviceID((bus.spoolDirectory as NSString).lastPathComponent) == nil)
      #expect(
        (bus.spoolDirectory as NSString).deletingLastPathComponent
          == (bus.stateDirectory(for: shell) as NSString).deletingLastPathComponent)
    }
  }
}
