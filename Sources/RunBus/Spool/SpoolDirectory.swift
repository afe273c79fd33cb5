import Foundation
package import RunCore
import RunWire
import SystemC

/// A directory in which senders without a store (`busnode send`) keep commands until the verdicts are known: a file for
/// each.
///
/// There is no lock: any number of senders may write while any number of nodes deliver and remove. A file appears by a
/// rename after an fsync, so every listed command is complete and durable. Two nodes may deliver the same command; the
/// hub recognizes its id and counts it once.
///
/// All devices of a bus on a machine share one directory, so that a press from a shell whose device never runs a node is
/// delivered, too. Writing and removing block until the disk has finished.
package struct SpoolDirectory: Sendable {
  /// How many commands may wait. Only a script that runs wild reaches this number; its commands are refused. Senders
  /// that write at the same moment may exceed it by their number.
  package static let commandsMax = 1_024
  /// The age in seconds after which the temporary file of a writer counts as abandoned. A living writer renames it
  /// within milliseconds.
  private static let abandonedSeconds = 60.0

  /// The directory.
  package let path: String
  private let files: SpoolFiles

  /// The spool at a path. Neither reads nor makes anything.
  package init(path: String) {
    self.path = path
    files = SpoolFiles(directory: path)
  }

  /// A spool whose disk fails at the steps that a test chooses.
  init(path: String, fault: @escaping @Sendable (SpoolFiles.Step) -> CInt) {
    self.path = path
    files = SpoolFiles(directory: path, fault: fault)
  }

  /// Stores a command durably, and replaces one with the same id. The directory is made if necessary.
  ///
  /// After an error a new command is not stored. If it was to replace another one, the old or the new version is
  /// stored.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the disk refuses it, ``RunBusError/Code/full`` when too many commands
  ///   wait, ``RunBusError/Code/badInput`` for a wall time that is not finite.
  package func write(_ command: SpooledCommand) throws(RunBusError) {
    guard command.wallSeconds.isFinite else {
      throw RunBusError(.badInput, "command \(command.command.id) cannot be written down: its time is no number")
    }
    let id = command.command.id
    // Another process may have removed the temporary file or the directory of a writer that slept; it then tries again.
    var code: CInt = ENOENT
    for _ in 1...3 where code == ENOENT {
      try make()
      if !exists(id) { try checkRoom() }
      let aside = ".\(id)-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp"
      code = files.put(command.bytes, as: Self.name(id), aside: aside)
    }
    guard code == 0 else {
      throw RunBusError(.store, "the command cannot be kept in \(path): \(systemReason(code))")
    }
  }

  /// The waiting commands in the order in which they were pressed, and notices for people.
  ///
  /// A file that is no command is renamed to `<name>.damaged`, kept, and named in one notice. A file of a newer or
  /// an older version is not changed. The temporary file of a dead sender is removed after a minute. A directory that cannot be read is
  /// a notice, too.
  package func list() -> (commands: [SpooledCommand], notices: [String]) {
    var known = Known()
    return list(&known)
  }

  /// The commands that a reader has read before, by the names of their files. A file of that name has that command as
  /// long as it is there; only its tries may have changed.
  typealias Known = [String: SpooledCommand]

  /// Like ``list()``, but reads only the files that are new to the reader. The tries of the others may be old.
  func list(_ known: inout Known) -> (commands: [SpooledCommand], notices: [String]) {
    do { return try contents(&known) } catch { return ([], [error.message]) }
  }

  /// Like ``list()``, but distinguishes an empty spool from one that cannot be read.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the directory exists and cannot be read.
  package func contents() throws(RunBusError) -> (commands: [SpooledCommand], notices: [String]) {
    var known = Known()
    return try contents(&known)
  }

  private func contents(_ known: inout Known) throws(RunBusError) -> (commands: [SpooledCommand], notices: [String]) {
    let (names, foreign, code) = files.names()
    guard code == 0 || code == ENOENT else {
      throw RunBusError(.store, "the spool \(path) cannot be read: \(systemReason(code))")
    }
    var commands: [SpooledCommand] = []
    var read = Known()
    defer { known = read }
    var notices = foreign.map {
      "\(ForeignText.shown($0)) in the spool \(path) is left as it is: its name is not UTF-8"
    }
    var later = 0
    for name in names {
      if name.hasPrefix(".") {
        // Other hidden files belong to the file system or the desktop.
        if name.hasSuffix(".tmp") { files.removeAbandoned(name, olderThan: Self.abandonedSeconds) }
      } else if !name.hasSuffix(".damaged") {
        switch known[name].map(Finding.command) ?? examine(name) {
        case .command(let command):
          commands.append(command)
          read[name] = command
        case .gone: break
        case .damaged(let reason): setAside(name, reason).map { notices.append($0) }
        case .later: later += 1
        case .left(let reason):
          notices.append("\(ForeignText.shown(name)) in the spool \(path) is left as it is: \(reason)")
        }
      }
    }
    if later > 0 {
      notices.append("\(later) file(s) in the spool \(path) are of a newer RunBus and stay: update this one")
    }
    return (SpooledCommand.inOrderOfPress(commands, bootID: MachineBoot.id), notices)
  }

  /// Removes a command durably; no error when it is not there.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the disk refuses. The command may then be delivered again, without
  ///   effect.
  package func remove(_ id: CommandID) throws(RunBusError) {
    if let failure = remove([id]).first { throw failure }
  }

  /// Removes commands durably, with one sync of the disk for all of them.
  ///
  /// - Returns: An error for each command that may be delivered again.
  func remove(_ ids: [CommandID]) -> [RunBusError] {
    files.remove(ids.map(Self.name)).map { name, code in
      let id = name.dropLast(Self.suffix.utf8CodeUnitCount)
      return RunBusError(.store, "command \(id) cannot be taken out of \(path): \(systemReason(code))")
    }
  }

  /// Whether a command waits here.
  package func exists(_ id: CommandID) -> Bool { files.exists(Self.name(id)) }

  /// A stamp that changes when a command is added or removed; `nil` when there is no spool. Reads no file.
  ///
  /// If a stamp read before ``list()`` equals the present one, the list is still current.
  package var changeStamp: SpoolStamp? { SpoolStamp(directory: path) }

  /// Makes the directory durably, with access for this user only.
  func make() throws(RunBusError) {
    guard !files.exists("") else { return }
    try PrivateDirectory.make(path, for: .spool)
    PrivateDirectory.adaptToDevice(path)
    var parent = path
    // The entries of the spool, of the bus's directory and of the directory of all buses.
    for _ in 1...3 {
      parent = (parent as NSString).deletingLastPathComponent
      PrivateDirectory.sync(parent)
    }
  }

  private func checkRoom() throws(RunBusError) {
    let waiting = files.count(endingIn: Self.suffix)
    guard waiting < Self.commandsMax else {
      throw RunBusError(
        .full, "\(waiting) commands wait in \(path), which holds no more: start the hub, or flush or cancel them")
    }
  }

  private enum Finding {
    case command(SpooledCommand)
    case gone
    case damaged(String)
    case later
    case left(String)
  }

  private func examine(_ name: String) -> Finding {
    if name.hasSuffix(Self.formerSuffix) {
      return .left("an older RunBus wrote it: deliver it with that one, or remove it")
    }
    guard name.hasSuffix("\(Self.suffix)") else { return .damaged("it is no command of this spool") }
    let bytes: [UInt8]
    switch files.read(name) {
    case .gone: return .gone
    case .foreign(let reason): return .damaged(reason)
    case .failed(let code): return .left(systemReason(code))
    case .bytes(let read): bytes = read
    }
    do throws(StoredError) {
      let command = try SpooledCommand(bytes: bytes)
      guard Self.name(command.command.id) == name else { return .damaged("its name is not its command's") }
      return .command(command)
    } catch {
      switch error {
      case .damaged: return .damaged("it is no command that a hub would take")
      case .unknownKind: return .later
      }
    }
  }

  private func setAside(_ name: String, _ reason: String) -> String? {
    let (kept, code) = files.setAside(name)
    let damage = "\(ForeignText.shown(name)) in the spool \(path) is damaged (\(reason))"
    guard code == 0 else { return "\(damage) and cannot be renamed: \(systemReason(code))" }
    // Another process has renamed the file, and reports it.
    guard let kept else { return nil }
    return "\(damage): it is kept as \(ForeignText.shown(kept))"
  }

  private static let suffix: StaticString = ".press"
  /// The suffix of files from before commands were stored in the form of the wire.
  private static let formerSuffix = ".json"
  private static func name(_ id: CommandID) -> String { "\(id)\(suffix)" }
}

/// A stamp of a spool's last change. Equal stamps mean that nothing was added or removed between them.
package struct SpoolStamp: Hashable, Sendable {
  /// Some file systems have time stamps of two seconds.
  private static let stampSeconds = 2.0

  private let file: UInt64
  private let seconds: Int64
  private let nanoseconds: Int64
  /// Whether the last change is so long ago that another one would have another time. A stamp that is read earlier
  /// differs from a later one of the same change, so that its reader lists the spool once more.
  private let isUnique: Bool

  init?(directory: String, wallSeconds: Double = Date().timeIntervalSince1970) {
    var info = stat()
    guard stat(directory, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return nil }
    file = UInt64(truncatingIfNeeded: info.st_ino)
    let time = info.modified
    seconds = Int64(time.tv_sec)
    nanoseconds = Int64(time.tv_nsec)
    isUnique = abs(wallSeconds - Double(time.tv_sec)) > Self.stampSeconds + 1
  }
}
