// What the real modules Darwin and Musl add to the headers in Swift. Compiled into each of the two.
public var errno: Int32 {
  get { shim_errno().pointee }
  set { shim_errno().pointee = newValue }
}
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { shim_open(path, flags, 0) }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { shim_open(path, flags, mode) }
public func fcntl(_ file: Int32, _ command: Int32) -> Int32 { shim_fcntl(file, command, 0) }
public func fcntl(_ file: Int32, _ command: Int32, _ value: Int32) -> Int32 { shim_fcntl(file, command, Int(value)) }
public func fcntl(_ file: Int32, _ command: Int32, _ value: UnsafeMutableRawPointer) -> Int32 {
  shim_fcntl_pointer(file, command, value)
}
public var S_IFMT: mode_t { 0o170000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFSOCK: mode_t { 0o140000 }
public var MAP_FAILED: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: -1) }
