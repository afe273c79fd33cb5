extension StringProtocol {
  /// The lines of a text, ended by LF or CR LF. Swift reads CR LF as one character, so both are compared.
  var writtenLines: [SubSequence] { split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" } }
}
