import Foundation
import RunBus
import TestSupport

/// A call that fails while one of two nodes works: which of its calls on the files of its store, and how.
struct FailingWrite: Hashable, Sendable, CustomStringConvertible {
  /// In which life of the node it happens.
  enum Life: String, CaseIterable, Sendable {
    /// The one that makes the store.
    case first
    /// The one after a kill -9, which finds commits in the log.
    case again
    /// The same, with a damaged table file.
    case damaged
  }
  /// The calls, as `Clients/failing-writes.c` names them.
  enum Kind: String, CaseIterable, Sendable { case write, sync, rename, truncate, open, unlink, any }
  /// What becomes of the call.
  enum Mode: String, CaseIterable, Sendable {
    /// It fails.
    case once
    /// It fails, and so does every later one of its kind.
    case ever
    /// It writes half, and the next one fails.
    case short
    /// It writes half, and the process is killed.
    case cut
    /// The process is killed before it.
    case kill
  }

  /// The index of the node in ``Crew/members``: its phone or its watch.
  var node: Int
  var life: Life
  var kind: Kind
  var mode: Mode
  /// Its number among the calls of its kind in that life, from 1 on; with 0 they are only counted.
  var position: Int
  /// The end of the names of the files whose calls are numbered; `nil` for all.
  var file: String?
  /// Whether the disk is full, which is another error than a broken disk.
  var isFull = false
  /// Whether a process that is still there at the end is killed instead of ended in good order.
  var endsByKill = false

  var description: String {
    let (ending, error) = (endsByKill ? "killed" : "ended", isFull ? "ENOSPC" : "EIO")
    let name = node == Crew.phone ? "phone" : "watch"
    let call = "\(kind) \(position)\(file.map { " of \($0)" } ?? "")"
    return "\(name), \(life) life, \(call), \(mode), \(error), then \(ending)"
  }

  /// The nodes and lives in which calls are counted.
  static var lives: [FailingWrite] {
    [Crew.phone, Crew.watch].flatMap { node in
      Life.allCases.map { FailingWrite(node: node, life: $0, kind: .any, mode: .once, position: 0) }
    }
  }

  /// One of each sort, at places that a life reaches.
  static var samples: [FailingWrite] {
    [
      // Once broken: a segment that a killed node had left was deleted when it could not be written, and the next start
      // took the log for lost and set the store aside.
      FailingWrite(
        node: Crew.phone, life: .again, kind: .write, mode: .ever, position: 1, file: "/node.log-0", endsByKill: true),
      // Once broken: what SQLite could not copy from its log when a new file was closed was lost with that log, a whole
      // salvaged store among it.
      FailingWrite(node: Crew.phone, life: .damaged, kind: .write, mode: .ever, position: 5, file: "/salvage.tmp"),
      FailingWrite(node: Crew.phone, life: .first, kind: .write, mode: .ever, position: 5, file: "/new.tmp"),
      // Once broken: the log was deleted after a sync of the tables had failed, which may have what says that it is there.
      FailingWrite(node: Crew.watch, life: .first, kind: .sync, mode: .ever, position: 3, file: "/node.sqlite-wal"),
      FailingWrite(node: Crew.phone, life: .again, kind: .sync, mode: .ever, position: 3, isFull: true),
      FailingWrite(node: Crew.watch, life: .again, kind: .write, mode: .ever, position: 4, endsByKill: true),
      FailingWrite(node: Crew.watch, life: .again, kind: .write, mode: .cut, position: 6),
    ]
  }

  /// So many failing calls, evenly over all positions of each life. The kinds of which there are few have up to a third
  /// of them.
  static func spread(_ count: Int, over counts: [(life: FailingWrite, calls: [Kind: Int])]) -> [FailingWrite] {
    func all(_ kinds: [Kind], in lives: [(life: FailingWrite, calls: [Kind: Int])]) -> [FailingWrite] {
      kinds.flatMap { kind in
        lives.flatMap { life, calls in
          modes(of: kind).flatMap { mode in
            (0..<(calls[kind] ?? 0)).map { place in
              FailingWrite(node: life.node, life: life.life, kind: kind, mode: mode, position: place + 1)
            }
          }
        }
      }
    }
    func evenly(_ all: [FailingWrite], _ count: Int) -> [FailingWrite] {
      count >= all.count ? all : (0..<count).map { all[$0 * all.count / count] }
    }
    var chosen = evenly(all([.rename, .truncate, .open, .unlink], in: counts), count / 3)
    for (number, life) in counts.enumerated() {
      chosen += evenly(all([.write, .sync, .any], in: [life]), (count - chosen.count) / (counts.count - number))
    }
    return chosen.enumerated().map { number, one in
      var one = one
      (one.isFull, one.endsByKill) = (number % 2 == 1, number / 2 % 2 == 1)
      return one
    }
  }

  private static func modes(of kind: Kind) -> [Mode] {
    switch kind {
    case .write: [.once, .ever, .short, .cut]
    case .any: [.kill]
    default: [.once, .ever]
    }
  }
}

/// The library that lets calls fail, and the file in which it counts them.
struct FailingCalls: Sendable {
  private static let kinds = FailingWrite.Kind.allCases
  private static let size = 64
  private let library: String
  private let counts: String

  /// Whether it can be built and loaded here.
  static var areThere: Bool {
    #if os(Linux)
      return FileManager.default.isExecutableFile(atPath: "/usr/bin/gcc") && Sanitizer.present == nil
    #else
      return false
    #endif
  }

  /// Builds the library into the directory of a bus.
  init(on bus: TestBus) async throws {
    (library, counts) = (bus.directory + "/failing-writes.so", bus.directory + "/counts")
    let source = Checkout.path("Tests/Processes/Clients/failing-writes.c")
    let build = try await bus.shell("/usr/bin/gcc -shared -fPIC -O1 -o '\(library)' '\(source)' -ldl")
    guard build.ending == .exited(0) else { throw DeadlineMissed(what: "a library: \(build.errors)") }
    try Data(count: Self.size).write(to: URL(filePath: counts))
  }

  /// The variables of a process in whose store a call fails.
  func environment(_ fault: FailingWrite, store: String) -> [String: String?] {
    [
      "LD_PRELOAD": library, "FAILING_DIRECTORY": store, "FAILING_COUNTS": counts, "FAILING_KIND": fault.kind.rawValue,
      "FAILING_FILE": fault.file ?? "", "FAILING_MODE": fault.mode.rawValue, "FAILING_AT": "\(fault.position)",
      "FAILING_ERRNO": "\(fault.isFull ? ENOSPC : EIO)",
    ]
  }

  /// How many calls of each kind there were, and whether one has failed.
  func read() throws -> (calls: [FailingWrite.Kind: Int], hasFailed: Bool) {
    let numbers = try Data(contentsOf: URL(filePath: counts)).withUnsafeBytes { bytes in
      (0..<Self.size / 4).map { Int(bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)) }
    }
    return (Dictionary(uniqueKeysWithValues: zip(Self.kinds, numbers)), numbers[Self.kinds.count] != 0)
  }
}
