/// A setting, as `busnode config ls --json` and `config get --json` print it.
struct SettingLineJSON: Encodable, Hashable, Sendable {
  var key: String
  var value: SettingValue?
  /// `flag`, `environment`, `context`, `file` or `default`; `nil` when nothing sets it.
  var origin: String?
  /// The option, the variable or the place in the file.
  var source: String?

  private enum CodingKeys: String, CodingKey {
    case key, value, origin, source
  }

  // Keys of what is not known are there, too.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(key, forKey: .key)
    try container.encode(value, forKey: .value)
    try container.encode(origin, forKey: .origin)
    try container.encode(source, forKey: .source)
  }
}

/// What `busnode config set` and `config rm` have done.
struct SettingActJSON: Encodable, Hashable, Sendable {
  var act: String
  var key: String?
  var context: String?
  var file: String
  var message: String

  private enum CodingKeys: String, CodingKey {
    case act, key, context, file, message
  }

  // Keys of what is not known are there, too.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(act, forKey: .act)
    try container.encode(key, forKey: .key)
    try container.encode(context, forKey: .context)
    try container.encode(file, forKey: .file)
    try container.encode(message, forKey: .message)
  }
}
