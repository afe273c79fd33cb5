// What the checked files use of Foundation. It does not re-export the system's library, as Foundation does: a file
// that calls the system has to import that itself. Never run.
public final class NSString {
  private let text: String
  public init(_ text: String) { self.text = text }
  public var deletingLastPathComponent: String { text }
  public var lastPathComponent: String { text }
}
open class NSCondition: @unchecked Sendable {
  public init() {}
  public func lock() {}
  public func unlock() {}
  public func wait() {}
  public func signal() {}
  public func broadcast() {}
}
public final class Thread: @unchecked Sendable {
  public init(block: @escaping @Sendable () -> Void) {}
  public var name: String?
  public func start() {}
}
public struct Date {
  public init() {}
  public var timeIntervalSince1970: Double { 0 }
}
public final class ProcessInfo: @unchecked Sendable {
  public static let processInfo = ProcessInfo()
  public var environment: [String: String] { [:] }
}
public func NSHomeDirectory() -> String { "" }
public struct URL {
  public static var applicationSupportDirectory: URL { URL(fileURLWithPath: "", isDirectory: true) }
  public let path: String
  public init(fileURLWithPath path: String, isDirectory: Bool) { self.path = path }
  public mutating func setResourceValues(_ values: URLResourceValues) throws(FileFailure) {}
}
public struct URLResourceValues {
  public init() {}
  public var isExcludedFromBackup: Bool?
}
public struct FileFailure: Error {}
public enum FileAttributeKey { case protectionKey }
public enum FileProtectionType { case completeUntilFirstUserAuthentication }
public final class FileManager: @unchecked Sendable {
  public static let `default` = FileManager()
  public var temporaryDirectory: URL { URL(fileURLWithPath: "", isDirectory: true) }
  public func setAttributes(
    _ attributes: [FileAttributeKey: FileProtectionType], ofItemAtPath path: String
  ) throws(FileFailure) {}
}
extension String {
  /// Of the standard library, but not of the embedded one.
  public func replacing(_ text: String, with other: String) -> String { self }
}
/// Of the module Synchronization, but not of the embedded one.
public struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  public init(_ value: consuming sending Value) {}
  public borrowing func withLock<Result: ~Copyable>(_ body: (inout sending Value) -> sending Result) -> sending Result {
    fatalError()
  }
}
