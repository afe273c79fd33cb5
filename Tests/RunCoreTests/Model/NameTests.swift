import RunCore
import Testing

@Suite("Names of devices and buses")
struct NameTests {
  @Test("A name has 1 to 32 characters of a-z, 0-9, '.', '_' and '-', and begins with a letter or a digit")
  func rule() {
    let longest = String(repeating: "x", count: 32)
    for text in ["a", "0", "watch-2", "a.b_c-d", longest] { #expect(DeviceID(text)?.rawValue == text) }
    for text in ["", longest + "x", "Watch", "-a", ".a", "my watch", "ä", "a/b"] { #expect(DeviceID(text) == nil) }
  }

  @Test("A literal is a name, wherever one is expected")
  func literal() {
    let watch: DeviceID = "watch"
    #expect(watch.rawValue == "watch")
    #expect(DeviceID("watch") == watch)
    #expect(([watch] as Set).contains("watch"))
    let bus = BusName("default")
    #expect(bus.rawValue == "default")
  }

  @Test("A wrong literal ends the program and says what a name is")
  func wrongLiteral() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let name: DeviceID = "My Watch"
      print(name)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("\"My Watch\" is not a name: a name has 1 to 32 characters"))
  }
}
