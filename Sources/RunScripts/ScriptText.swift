/// An error in a piece of text. Its message is printed after the line or file in which the text was found.
package struct TextError: Error, Hashable {
  package let message: String
  package init(_ message: String) { self.message = message }
}

extension StringProtocol {
  /// The lines of a text, ended by LF or CR LF. Swift reads CR LF as one character, so both are compared.
  package var writtenLines: [SubSequence] { split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" } }
}
