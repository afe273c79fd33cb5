import Foundation
import Synchronization

/// A private environment for one test: directories that nobody else uses, and the processes started in them.
package final class TestBus: Sendable {
  /// Contains everything; its path is short because a socket's path must be.
  package let directory: String
  private typealias Request = @Sendable () async -> Void
  private let requests = AsyncStream.makeStream(of: Request.self)

  fileprivate init() throws {
    var template = Array("/tmp/rbt-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try FileManager.default.createDirectory(atPath: runtimeDirectory, withIntermediateDirectories: true)
    guard chmod(runtimeDirectory, 0o700) == 0 else { throw CocoaError(.fileWriteNoPermission) }
  }

  /// The directory of sockets: `XDG_RUNTIME_DIR`.
  package var runtimeDirectory: String { directory + "/run" }
  /// The directory of stores: `XDG_STATE_HOME`.
  package var stateDirectory: String { directory + "/state" }

  /// The directory of settings, which is not made: `XDG_CONFIG_HOME`. Nobody's own settings reach a test.
  package var configDirectory: String { directory + "/config" }

  /// Environment of the test's processes; `nil` removes a variable.
  package var environment: [String: String?] {
    [
      "XDG_RUNTIME_DIR": runtimeDirectory, "XDG_STATE_HOME": stateDirectory, "RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil,
      "RUNBUS_INSECURE": nil, "RUNBUS_CONTEXT": nil, "RUNBUS_UNITS": nil, "RUNBUS_WEIGHT": nil,
      "RUNBUS_LOG_LEVEL": nil, "RUNBUS_LOG_FORMAT": nil, "RUNBUS_COLOURS": nil, "RUNBUS_LANGUAGE": nil,
      "XDG_CONFIG_HOME": configDirectory,
      "BUSNODE": Self.busnode, "TMPDIR": directory,
    ]
  }

  /// The tested command: the one that was built together with the tests, or the one that a soak names.
  package static var busnode: String { program("busnode") }

  /// A program of this package from the same folder as ``busnode``.
  package static func program(_ name: String) -> String {
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
  package func spawn(_ arguments: String..., environment: [String: String?] = [:]) -> NodeProcess {
    spawn(executable: Self.busnode, arguments, environment: environment)
  }

  /// Starts any program, for example a shell around `busnode`, which finds it as `$BUSNODE`. When a program that owns
  /// its process group ends, everything that it has started ends too.
  package func spawn(
    executable: String, _ arguments: [String], environment: [String: String?] = [:], ownsGroup: Bool = false
  ) -> NodeProcess {
    let process = NodeProcess(arguments: arguments, ownsGroup: ownsGroup)
    let environment = self.environment.merging(environment) { $1 }
    requests.continuation.yield { await process.run(executable: executable, environment: environment) }
    return process
  }

  /// Runs `busnode` until it ends and returns its output and ending.
  package func run(
    _ arguments: String..., within seconds: Double = 90, environment: [String: String?] = [:]
  ) async throws -> NodeProcess.View {
    let process = spawn(executable: Self.busnode, arguments, environment: environment)
    process.closeInput()
    _ = try await process.ending(within: seconds)
    return process.view
  }

  /// Runs a line of shell until it ends and returns its output and ending.
  package func shell(_ line: String, within seconds: Double = 90) async throws -> NodeProcess.View {
    let process = spawn(executable: "/bin/bash", ["-c", line])
    process.closeInput()
    _ = try await process.ending(within: seconds)
    return process.view
  }

  fileprivate func serve() async {
    await withDiscardingTaskGroup { group in
      for await request in requests.stream { group.addTask { await request() } }
      // The test has ended: processes that still run are killed.
      group.cancelAll()
    }
  }

  fileprivate func end() { requests.continuation.finish() }

  fileprivate func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

/// Runs a test in an environment of its own; afterwards its processes are dead and its files are deleted.
package func withTestBus<Value: Sendable>(_ body: @Sendable (TestBus) async throws -> Value) async throws -> Value {
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
