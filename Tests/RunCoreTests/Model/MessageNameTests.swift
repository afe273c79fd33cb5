import Foundation
import RunCore
import Testing

@Suite("Names of messages")
struct MessageNameTests {
  @Test("A name has 1 to 64 bytes and no control characters")
  func rule() {
    let longest = String(repeating: "x", count: 64)
    for text in ["a", "Photo of the bridge", "日本", longest] { #expect(MessageName(text)?.rawValue == text) }
    let wrong = ["", longest + "x", String(repeating: "日", count: 22), "a\u{0}", "a\nb", "\u{7F}", "\u{9F}"]
    for text in wrong { #expect(MessageName(text) == nil) }
  }

  @Test("A literal is a name")
  func literal() {
    let photo: MessageName = "photo"
    #expect(photo.rawValue == "photo")
    #expect(["b", "a"].sorted() as [MessageName] == ["a", "b"])
  }

  @Test("A wrong literal ends the program and says what a name is")
  func wrongLiteral() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let name: MessageName = "a\nb"
      print(name)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("is not a message's name: a name has 1 to 64 bytes and no control characters"))
  }

  @Test("A name is written as its text, and checked when it is read")
  func coding() throws {
    let names: [MessageName] = ["photo", "note"]
    let json = try JSONEncoder().encode(names)
    #expect(String(decoding: json, as: UTF8.self) == #"["photo","note"]"#)
    #expect(try JSONDecoder().decode([MessageName].self, from: json) == names)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([MessageName].self, from: Data(#"[""]"#.utf8)) }
  }
}
