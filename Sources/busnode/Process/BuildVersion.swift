import CBuild
import RunBus

/// Which version of RunBus this program is.
enum BuildVersion {
  /// The commit from which it was built; `nil` when the build was not told one, as `swift build` is not.
  static var commit: String? {
    let commit = String(cString: runbus_build_commit())
    return commit.isEmpty ? nil : commit
  }

  /// `0.1.0 (wire 3, schema 1, commit 1f0a2b3c4d5e)`.
  static var text: String {
    "\(runBusVersion) (wire \(wireVersion), schema \(storeSchema), commit \(commit ?? "unknown"))"
  }
}
