import Foundation
import Synchronization

/// A place of its own for one test: directories that nobody else uses, and the processes that were started in them.
public final class TestBus: Sendable {
  /// Holds everything; its path is short because a socket's path must be.
  public let directory: String
  private typealias Request = @Sendable () async -> Void
  private let requests = AsyncStream.makeStream(of: Request.self)

  fileprivate init() throws {
    var template = Array("/tmp/rbt-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try FileManager.default.createDirectory(atPath: runtimeDirectory, withIntermediateDirectories: true)
    guard chmod(runtimeDirectory, 0o700) == 0 else { throw CocoaError(.fileWriteNoPermission) }
  }

  /// Where sockets live: `XDG_RUNTIME_DIR`.
  public var runtimeDirectory: String { directory + "/run" }
  /// Where stores live: `XDG_STATE_HOME`.
  public var stateDirectory: String { directory + "/state" }

  /// What the processes of this test find in their environment; `nil` takes a variable away.
  public var environment: [String: String?] {
    [
      "XDG_RUNTIME_DIR": runtimeDirectory, "XDG_STATE_HOME": stateDirectory, "RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil,
      "BUSNODE": Self.busnode, "TMPDIR": directory,
    ]
  }

  /// The command under test: the one that was built together with the tests, or the one that a soak names.
  public static var busnode: String { program("busnode") }

  /// A program of this package, from where ``busnode`` is.
  public static func program(_ name: String) -> String {
    if let path = ProcessInfo.processInfo.environment["RUNBUS_SOAK_BUSNODE"], !path.isEmpty {
      return URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(name).path
    }
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var folder = bundle.deletingLastPathComponent()
    // On macOS the test bundle is a folder in the build directory; on Linux it is a file there.
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent(name).path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      folder = folder.deletingLastPathComponent()
    }
    return name
  }

  /// Starts `busnode` with these arguments.
  public func spawn(_ arguments: String..., environment: [String: String?] = [:]) -> NodeProcess {
    spawn(executable: Self.busnode, arguments, environment: environment)
  }

  /// Starts any program: a shell around `busnode`, for example, which finds it as `$BUSNODE`. A program that owns its
  /// process group takes everything that it has started with it when it ends.
  public func spawn(
    executable: String, _ arguments: [String], environment: [String: String?] = [:], ownsGroup: Bool = false
  ) -> NodeProcess {
    let process = NodeProcess(arguments: arguments, ownsGroup: ownsGroup)
    let environment = self.environment.merging(environment) { $1 }
    requests.continuation.yield { await process.run(executable: executable, environment: environment) }
    return process
  }

  /// Runs `busnode` to its end and returns what it did.
  public func run(
    _ arguments: String..., within seconds: Double = 90, environment: [String: String?] = [:]
  ) async throws -> NodeProcess.View {
    let process = spawn(executable: Self.busnode, arguments, environment: environment)
    process.closeInput()
    _ = try await process.ending(within: seconds)
    return process.view
  }

  /// Runs a line of shell to its end and returns what it did.
  public func shell(_ line: String, within seconds: Double = 90) async throws -> NodeProcess.View {
    let process = spawn(executable: "/bin/bash", ["-c", line])
    process.closeInput()
    _ = try await process.ending(within: seconds)
    return process.view
  }

  fileprivate func serve() async {
    await withDiscardingTaskGroup { group in
      for await request in requests.stream { group.addTask { await request() } }
      // The test is over, well or badly: whoever still lives is killed.
      group.cancelAll()
    }
  }

  fileprivate func end() { requests.continuation.finish() }

  fileprivate func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

/// Runs a test with a place of its own; afterwards every process it started is dead and every file gone.
public func withTestBus<Value: Sendable>(_ body: @Sendable (TestBus) async throws -> Value) async throws -> Value {
  let bus = try TestBus()
  defer { bus.remove() }
  async let served: Void = bus.serve()
  do {
    let value = try await body(bus)
    bus.end()
    await served
    return value
  } catch {
    bus.end()
    await served
    throw error
  }
}
