import RunCore
import Testing

@Suite("The source of a command and the role of a node")
struct ControlSourceTests {
  @Test("Any text becomes a name that the wire carries: otherwise a hub would refuse the command or the hello for ever")
  func carried() {
    let names = [
      "watch": "watch", "": "unknown", "\n": "unknown", "a\u{0}b\u{85}c\r\n": "abc", "ring ⌚️": "ring ⌚️",
      String(repeating: "é", count: 40): String(repeating: "é", count: 32),
    ]
    for (text, name) in names {
      #expect(ControlSource(rawValue: text).rawValue == name)
      #expect(NodeRole(rawValue: text).rawValue == name)
    }
    // One character may be longer than a name.
    let family = ControlSource(rawValue: "x" + String(repeating: "👨‍👩‍👧‍👦", count: 5))
    #expect(AppMessage.isName(family.rawValue))
    #expect(AppMessage.isName(NodeRole(rawValue: "x" + String(repeating: "👨‍👩‍👧‍👦", count: 5)).rawValue))
  }
}
