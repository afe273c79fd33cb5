import Foundation

extension KeyFiles {
  /// Files in the usual directory: `_keys` beside the stores of the buses (``BusLocation``).
  ///
  /// - Parameter environment: Replaces all environment variables of the process; `nil` for those of the process.
  public init(environment: [String: String]? = nil) {
    self.init(directory: BusPaths.keyDirectory(environment ?? ProcessInfo.processInfo.environment))
  }
}
