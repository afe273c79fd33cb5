import RunCore
import Testing

@testable import RunBus

@Suite("The line of a pairing, and where a hub listens")
struct PairingLineTests {
  private let key = KeyFingerprint((0..<32).map { UInt8(255 - $0) })!
  private let token = (0..<16).map { UInt8($0 * 16) }

  @Test("A line is read as it is written", arguments: ["192.168.1.7:7072", "[fd00::7]:1", "phone.local:65535"])
  func line(authority: String) throws {
    let line = PairingLine(authority: authority, hubKey: key, token: token)
    let read = try PairingLine("  \(line.text)\n")
    #expect(read.authority == authority && read.hubKey == key && read.token == token)
    #expect(read.endpoint == "tcp://\(authority)")
  }

  @Test("A line is not shown in a text, a dump or a mirror")
  func secret() {
    let line = PairingLine(authority: "h:1", hubKey: key, token: token)
    let secret = String(line.text.split(separator: "=")[2])
    for text in ["\(line)", String(reflecting: line), "\(Mirror(reflecting: line).children.map(\.value))"] {
      #expect(!text.contains(secret), "\(text)")
    }
  }

  @Test("A line with a key of small order is none: nothing would be secret")
  func smallOrder() {
    for first in [0, 1] as [UInt8] {
      let key = KeyFingerprint([first] + [UInt8](repeating: 0, count: 31))!
      #expect((try? PairingLine(PairingLine(authority: "h:7072", hubKey: key, token: token).text)) == nil)
    }
  }

  @Test("Other texts are no line")
  func others() {
    let good = PairingLine(authority: "h:7072", hubKey: key, token: token).text
    let wrong = [
      "", "runbus://", good.dropLast() + "", good.replacing("runbus", with: "http"), good.replacing(":7072", with: ""),
      good.replacing("k=", with: "q="), good + "#x", good.replacing("//h", with: "//u@h"),
      good.replacing(":7072", with: ":0"), good + String(repeating: "&a=b", count: 200),
    ]
    for text in wrong { #expect((try? PairingLine(text)) == nil, "\(text)") }
  }

  @Test(
    "A listener has three ports",
    arguments: ["tcp://*:7070", "tcp://192.168.1.7:7070", "tcp://[::]:7070", "tcp://eth0:7070"])
  func listener(address: String) throws {
    let usual = try RemoteListener(address)
    #expect(usual.port == 7070 && usual.eventsPort == 7071 && usual.pairingPort == 7072)
    #expect(usual.description == address && !usual.addresses.isEmpty)
    let own = try RemoteListener(address, eventsPort: 1, pairingPort: 2)
    #expect(own.eventsEndpoint.hasSuffix(":1") && own.pairingEndpoint.hasSuffix(":2"))
  }

  @Test(
    "Other texts are no address to listen at",
    arguments: [
      "", "tcp://", "tcp://:7070", "tcp://h", "tcp://h:0", "tcp://h:70700", "tcp://[h]:7070", "tcp://a b:7070",
      "ipc:///tmp/x:1", "inproc://x:1", "tcp://h:65535", "tcp://h;rm:7070",
    ])
  func noListener(address: String) {
    #expect((try? RemoteListener(address)) == nil)
  }
}
