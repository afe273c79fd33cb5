#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Returns the system's text for an error number.
package func systemReason(_ code: CInt) -> String { String(cString: strerror(code)) }
