import Foundation

/// The sanitizer under which `scripts/sanitize` runs the tests and their processes. It names it in RUNBUS_SANITIZER.
package enum Sanitizer: String, Sendable {
  /// It reserves address space and maps files, so it cannot run with limits on address space or on the size of files.
  case thread
  /// It keeps freed memory to detect later uses of it, so memory sizes mean nothing. It reserves address space.
  case address

  /// The present one; `nil` in an ordinary test run.
  package static var present: Sanitizer? {
    ProcessInfo.processInfo.environment["RUNBUS_SANITIZER"].flatMap(Sanitizer.init)
  }
}
