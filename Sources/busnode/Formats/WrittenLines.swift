extension StringProtocol {
  /// The lines of a text that people write, ended by LF or, on Windows, by CR LF: in Swift those are two characters.
  var writtenLines: [SubSequence] { split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" } }
}
