import ArgumentParser

/// An id, or at least 4 of its first digits, as a person copies it from `busnode outbox`.
struct IDPrefix: ExpressibleByArgument {
  let digits: String

  init?(argument: String) {
    let digits = argument.lowercased()
    guard (4...32).contains(digits.count), digits.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
      return nil
    }
    self.digits = digits
  }

  /// Returns the only id that begins with these digits.
  ///
  /// - Throws: ``Failure`` with 1 when there is none and with 64 when there are several.
  func match(_ ids: some Sequence<String>, where place: String) throws(Failure) -> String {
    let matches = Set(ids.filter { $0.hasPrefix(digits) }).sorted()
    guard let first = matches.first else {
      throw Failure(
        code: "unknownId", message: Tongue.say(.nothingBegins, ["where": place, "digits": digits]),
        exitStatus: ExitStatus.failure)
    }
    guard matches.count == 1 else {
      throw Failure(
        code: "usage", message: Tongue.say(.idsBegin, ["count": matches.count, "where": place, "digits": digits]),
        exitStatus: ExitStatus.usage)
    }
    return first
  }
}
