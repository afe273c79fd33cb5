package import Foundation

/// The checkout that the tests belong to.
package enum Checkout {
  /// The folder of `Package.swift`.
  package static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  /// The path of a file or folder of the checkout.
  package static func path(_ name: String) -> String { root.appending(path: name).path }

  /// The Python environment that `scripts/bootstrap --python` makes for examples and test clients.
  package static let python = path(".venv/bin/python")
  /// Whether that Python exists.
  package static var hasPython: Bool { FileManager.default.isExecutableFile(atPath: python) }

  /// Recordings of real runs, `shared/runs` beside the checkout or beside a folder above it; `nil` if there are none.
  package static let recordings = shared("runs", with: "reference.json")

  /// Recordings of reported faults, `shared/reports`; `nil` if there are none.
  package static let reports = shared("reports", with: "position-held-4s.gpx")

  private static func shared(_ name: String, with file: String) -> URL? {
    var folder = root
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let found = folder.appending(path: "shared/\(name)")
      if FileManager.default.fileExists(atPath: found.appending(path: file).path) {
        return found
      }
    }
    return nil
  }
}
