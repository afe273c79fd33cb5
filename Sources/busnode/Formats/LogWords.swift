import ArgumentParser
import Logging

/// A log level as an argument and as a setting.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
  case trace, debug, info, notice, warning, error, critical

  var level: Logger.Level {
    switch self {
    case .trace: .trace
    case .debug: .debug
    case .info: .info
    case .notice: .notice
    case .warning: .warning
    case .error: .error
    case .critical: .critical
    }
  }
}

/// The form of log lines as an argument and as a setting.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people.
  case text
  /// One JSON object a line.
  case json
}
