import Foundation
public import RunCore

/// Where one-shot senders (`busnode send`) keep their commands until a verdict is known: one file a command.
///
/// There is no lock: any number of senders write, and any number of nodes deliver and remove, side by side. A file
/// appears whole or not at all, so what is listed was durable before anybody could see it. Two nodes may deliver the same
/// command; the hub takes it once, by its id.
///
/// Writing and removing wait for the disk.
public struct SpoolDirectory: Sendable {
  /// How many commands may wait. Nobody presses so often: beyond it a script runs wild, and is told. Senders that write
  /// in the same moment may pass it by their number.
  public static let commandsMax = 1_024
  /// A file that was written aside takes milliseconds to get its name; after so long its writer is dead.
  private static let abandonedSeconds = 60.0

  /// The directory.
  public let path: String
  private let files: SpoolFiles

  /// The spool at a path; nothing is made or read yet.
  public init(path: String) {
    self.path = path
    files = SpoolFiles(directory: path)
  }

  /// A spool whose disk fails as a test wants it.
  init(path: String, fault: @escaping @Sendable (SpoolFiles.Step) -> CInt) {
    self.path = path
    files = SpoolFiles(directory: path, fault: fault)
  }

  /// Keeps a command; when this returns it survives a power failure. One with the same id is replaced. The directory is
  /// made when there is none.
  ///
  /// Throws ``RunBusError/Code/store`` when the disk does not take it and ``RunBusError/Code/full`` when too many wait:
  /// nothing of it is left then, and what was to be replaced is still there. ``RunBusError/Code/badInput`` for a wall
  /// time that is no number.
  public func write(_ command: SpooledCommand) throws(RunBusError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(command) else {
      throw RunBusError(.badInput, "command \(command.command.id) cannot be written down: its time is no number")
    }
    let id = command.command.id
    // A writer that slept may find its file tidied away, or its directory gone: it begins anew.
    var code: CInt = ENOENT
    for _ in 1...3 where code == ENOENT {
      try make()
      if !exists(id) { try checkRoom() }
      let aside = ".\(id)-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp"
      code = files.put(Array(data), as: Self.name(id), aside: aside)
    }
    guard code == 0 else {
      throw RunBusError(.store, "the command cannot be kept in \(path): \(PrivateDirectory.reason(code))")
    }
  }

  /// What waits, in the order in which it was pressed, and what a person should know.
  ///
  /// A file that is no command is renamed to `<name>.damaged`, kept, and named in a notice once; one of a newer version
  /// is left as it is. What a dead sender left half-written is removed after a minute.
  /// That the directory cannot be read is a notice, too.
  public func list() -> (commands: [SpooledCommand], notices: [String]) {
    do { return try contents() } catch { return ([], [error.message]) }
  }

  /// The same as ``list()``, for a caller that must tell an empty spool from one that cannot be read.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the directory is there and cannot be read.
  public func contents() throws(RunBusError) -> (commands: [SpooledCommand], notices: [String]) {
    let (names, code) = files.names()
    guard code == 0 || code == ENOENT else {
      throw RunBusError(.store, "the spool \(path) cannot be read: \(PrivateDirectory.reason(code))")
    }
    var commands: [SpooledCommand] = []
    var notices: [String] = []
    for name in names {
      if name.hasPrefix(".") {
        // Other hidden files are the file system's or the desktop's.
        if name.hasSuffix(".tmp") { files.removeAbandoned(name, olderThan: Self.abandonedSeconds) }
      } else if !name.hasSuffix(".damaged") {
        switch examine(name) {
        case .command(let command): commands.append(command)
        case .gone: break
        case .damaged(let reason): setAside(name, reason).map { notices.append($0) }
        case .left(let reason):
          notices.append("\(ForeignText.shown(name)) in the spool \(path) is left as it is: \(reason)")
        }
      }
    }
    return (SpooledCommand.inOrderOfPress(commands, bootID: MachineBoot.id), notices)
  }

  /// Takes a command out, for good; one that is not there is out already.
  ///
  /// Throws ``RunBusError/Code/store`` when the disk refuses: the command may be delivered again, to no effect.
  public func remove(_ id: CommandID) throws(RunBusError) {
    let code = files.remove(Self.name(id))
    guard code == 0 else {
      throw RunBusError(
        .store, "command \(id) cannot be taken out of \(path): \(PrivateDirectory.reason(code))")
    }
  }

  /// Whether a command waits here.
  public func exists(_ id: CommandID) -> Bool { files.exists(Self.name(id)) }

  /// Changes with every command that comes or goes; `nil` when there is no spool. Reads no file.
  ///
  /// Taken before ``list()`` and equal to the one of the next look, it says that the list still holds.
  public var changeStamp: SpoolStamp? { SpoolStamp(directory: path) }

  /// Makes the directory, for this user alone and to last.
  func make() throws(RunBusError) {
    guard !files.exists("") else { return }
    try PrivateDirectory.make(path, for: "the spool")
    var parent = path
    // Its name, the bus's and that of the directory of all buses.
    for _ in 1...3 {
      parent = (parent as NSString).deletingLastPathComponent
      PrivateDirectory.sync(parent)
    }
  }

  private func checkRoom() throws(RunBusError) {
    let waiting = files.names().names.count { $0.hasSuffix(Self.suffix) }
    guard waiting < Self.commandsMax else {
      throw RunBusError(
        .full, "\(waiting) commands wait in \(path), which holds no more: start the hub, or flush or cancel them")
    }
  }

  private enum Finding {
    case command(SpooledCommand)
    case gone
    case damaged(String)
    case left(String)
  }

  private func examine(_ name: String) -> Finding {
    guard name.hasSuffix(Self.suffix) else { return .damaged("it is no command of this spool") }
    let bytes: [UInt8]
    switch files.read(name) {
    case .gone: return .gone
    case .foreign(let reason): return .damaged(reason)
    case .failed(let code): return .left(PrivateDirectory.reason(code))
    case .bytes(let read): bytes = read
    }
    let decoder = JSONDecoder()
    struct Head: Decodable { let version: Int }
    guard let head = try? decoder.decode(Head.self, from: Data(bytes)) else { return .damaged("it is no command") }
    guard head.version <= SpooledCommand.version else { return .left("a newer RunBus wrote it: update this one") }
    guard let command = try? decoder.decode(SpooledCommand.self, from: Data(bytes)) else {
      return .damaged("it is no command that a hub would take")
    }
    guard Self.name(command.command.id) == name else { return .damaged("its name is not its command's") }
    return .command(command)
  }

  private func setAside(_ name: String, _ reason: String) -> String? {
    let (kept, code) = files.setAside(name)
    let damage = "\(ForeignText.shown(name)) in the spool \(path) is damaged (\(reason))"
    guard code == 0 else { return "\(damage) and cannot be renamed: \(PrivateDirectory.reason(code))" }
    // Another process was faster, and says so.
    guard let kept else { return nil }
    return "\(damage): it is kept as \(ForeignText.shown(kept))"
  }

  private static let suffix = ".json"
  private static func name(_ id: CommandID) -> String { "\(id)\(suffix)" }
}

/// When a spool was last changed. Equal ones mean that nothing has come or gone in between.
public struct SpoolStamp: Hashable, Sendable {
  /// A file system may tell no two changes within two seconds apart.
  private static let settledSeconds = 2.0

  private let file: UInt64
  private let seconds: Int64
  private let nanoseconds: Int64
  /// The last change is long enough ago that another one would have another time. A stamp that is not settled differs
  /// from the settled one that follows it: so whoever looked too early looks once more.
  private let isSettled: Bool

  init?(directory: String, wallSeconds: Double = Date().timeIntervalSince1970) {
    var info = stat()
    guard stat(directory, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return nil }
    file = UInt64(truncatingIfNeeded: info.st_ino)
    let time = info.modified
    seconds = Int64(time.tv_sec)
    nanoseconds = Int64(time.tv_nsec)
    isSettled = abs(wallSeconds - Double(time.tv_sec)) > Self.settledSeconds + 1
  }
}
