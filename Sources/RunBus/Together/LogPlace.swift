import Foundation
package import RunCore

/// Where the log of a fleet on one machine is: below the state directory of this user, its live messages below the
/// runtime directory. No bus has the name of the folder.
package struct LogPlace: Hashable, Sendable {
  /// The name of the fleet.
  package let name: BusName
  /// The directory of the log.
  package let directory: String
  /// The directory of live messages.
  package let liveDirectory: String

  /// The place of a fleet.
  ///
  /// - Parameter environment: Replaces all environment variables of the process; `nil` for those of the process.
  package init(_ name: BusName, environment: [String: String]? = nil) {
    let paths = BusPaths(
      runtimeName: "_together/\(name)", stateName: "_together/\(name)", hasSockets: false,
      environment ?? ProcessInfo.processInfo.environment)
    self.name = name
    directory = paths.stateDirectory
    liveDirectory = paths.runtimeDirectory
  }

  /// The places of all fleets of this machine that have a log, or what is left of one, by name.
  ///
  /// - Parameter environment: As in ``init(_:environment:)``.
  package static func all(environment: [String: String]? = nil) -> [LogPlace] {
    let directory = (LogPlace("any", environment: environment).directory as NSString).deletingLastPathComponent
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.compactMap { BusName($0) }.sorted().map { LogPlace($0, environment: environment) }
      .filter { place in ["", "-wal"].contains { FileManager.default.fileExists(atPath: place.file + $0) } }
  }

  /// The file of the log.
  package var file: String { directory + "/log.sqlite" }
  var bell: LogBell { LogBell(path: directory + "/bell") }
  var liveFile: String { liveDirectory + "/live.sqlite" }
  var liveBell: LogBell { LogBell(path: liveDirectory + "/bell") }

  /// Makes the directories of the log, and checks that they are closed to other users.
  func prepare() throws(SharedLogError) { try Self.prepare(directory, for: .rooms) }
  /// The same for live messages.
  func prepareLive() throws(SharedLogError) { try Self.prepare(liveDirectory, for: .runtime) }

  private static func prepare(
    _ directory: String, for purpose: PrivateDirectory.Purpose
  ) throws(SharedLogError) {
    do {
      let parent = (directory as NSString).deletingLastPathComponent
      for path in [parent, directory] {
        try PrivateDirectory.make(path, for: purpose)
        try PrivateDirectory.check(path, for: purpose, code: .store)
      }
      PrivateDirectory.adaptToDevice(directory)
    } catch {
      throw .unavailable(error.message)
    }
  }
}
