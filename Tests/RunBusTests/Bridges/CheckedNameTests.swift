import RunBus
import Testing

@Suite("Names from outside")
struct CheckedNameTests {
  @Test("A right name is taken, from a string or a part of one")
  func right() throws {
    #expect(try DeviceID(validating: "watch-2").rawValue == "watch-2")
    #expect(try BusName(validating: "a b".prefix(1)).rawValue == "a")
    #expect(try MessageName(validating: "Photo of the bridge").rawValue == "Photo of the bridge")
  }

  @Test("A wrong name is bad input, with one line that shows it and the rule")
  func wrong() {
    for text in ["", "Watch", "my watch", "-a", String(repeating: "x", count: 33), "a\nb"] {
      let error = #expect(throws: RunBusError.self) { try DeviceID(validating: text) }
      #expect(error?.code == .badInput)
      #expect(error?.message.contains("is not a name: a name has 1 to 32 characters") == true)
      #expect(error?.message.contains("\n") == false)
    }
    let error = #expect(throws: RunBusError.self) { try MessageName(validating: "a\u{0}") }
    #expect(
      error?.message == "\"a\\u{0}\" is not a message's name: a name has 1 to 64 bytes and no control characters")
  }
}
