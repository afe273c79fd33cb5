import Logging
import RunBus

/// The log on standard error. Text from other devices cannot control the terminal, see ``ForeignText``.
struct ShownLogHandler: LogHandler {
  private var handler: StreamLogHandler

  init(label: String, level: Logger.Level) {
    handler = StreamLogHandler(label: label, stream: LogLines())
    handler.logLevel = level
  }

  func log(event: LogEvent) {
    var event = event
    event.message = "\(ForeignText.shown(event.message.description))"
    event.metadata = event.metadata?.mapValues { "\(ForeignText.shown($0.description))" }
    handler.log(event: event)
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue.map { "\(ForeignText.shown($0.description))" } }
  }
  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }
  var metadataProvider: Logger.MetadataProvider? {
    get { handler.metadataProvider }
    set { handler.metadataProvider = newValue }
  }
  var logLevel: Logger.Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }
}
