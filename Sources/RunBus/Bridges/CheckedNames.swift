public import RunCore

extension Name {
  /// The name of a device or a bus from text that comes from outside, such as a setting or an argument.
  ///
  /// ```swift
  /// let device = try DeviceID(validating: settings.deviceName)
  /// ```
  ///
  /// - Throws: ``RunBus/RunBusError/Code/badInput`` with one line that says what a name is.
  public init(validating text: some StringProtocol) throws(RunBusError) {
    guard let name = Self(text) else {
      throw RunBusError(.badInput, "\"\(ForeignText.shown(text.prefix(64)))\" is not a name: \(Self.rule)")
    }
    self = name
  }
}

extension MessageName {
  /// The name of a message from text that comes from outside, such as an argument.
  ///
  /// - Throws: ``RunBus/RunBusError/Code/badInput`` with one line that says what a name is.
  public init(validating text: some StringProtocol) throws(RunBusError) {
    guard let name = Self(text) else {
      throw RunBusError(
        .badInput, "\"\(ForeignText.shown(text.prefix(64)))\" is not a message's name: \(Self.rule)")
    }
    self = name
  }
}
