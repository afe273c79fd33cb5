import Foundation
import SystemC

/// The present boot of the machine. Readings of the monotonic clock in two boots cannot be compared.
package enum MachineBoot {
  /// An id that differs from boot to boot; empty when the system does not provide one.
  package static let id: String = {
    #if canImport(Darwin)
      var bytes = [CChar](repeating: 0, count: 64)
      var count = bytes.count - 1
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return "" }
      return bytes.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    #else
      let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    #endif
  }()
}
