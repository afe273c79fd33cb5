/// What is wrong with a piece of text, in words that follow the place where it stands.
struct TextError: Error, Hashable {
  let message: String
  init(_ message: String) { self.message = message }
}
