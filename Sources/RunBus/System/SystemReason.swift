import SystemC

/// Returns the system's text for an error number.
package func systemReason(_ code: CInt) -> String { String(cString: strerror(code)) }
