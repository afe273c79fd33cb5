/// An error in a piece of text. Its message is printed after the line or file in which the text was found.
struct TextError: Error, Hashable {
  let message: String
  init(_ message: String) { self.message = message }
}
