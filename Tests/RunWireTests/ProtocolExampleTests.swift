import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunWire

@Suite("The bytes of docs/protocol.md")
struct ProtocolExampleTests {
  /// The frames of the last section: lines of hexadecimal digits, without a break within a frame.
  private static let frames: [[UInt8]] = {
    let text = (try? String(contentsOfFile: Checkout.path("docs/protocol.md"), encoding: .utf8)) ?? ""
    guard let section = text.range(of: "## A session in bytes") else { return [] }
    var frames: [String] = [""]
    for line in text[section.upperBound...].split(separator: "\n", omittingEmptySubsequences: false) {
      if !line.isEmpty, line.allSatisfy(\.isHexDigit) {
        frames[frames.count - 1] += line
      } else if frames.last?.isEmpty == false {
        frames.append("")
      }
    }
    return frames.dropLast().map { frame in
      let digits = Array(frame)
      return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
  }()

  @Test("Each example is a frame, and encodes to the same bytes; the last one is the summary of a record")
  func examples() throws {
    try #require(Self.frames.count == 8)
    #expect(RecordSummary(encoded: Self.frames[7])?.encoded == Self.frames[7])
    for (index, bytes) in Self.frames.prefix(7).enumerated() {
      let isOfHub = [1, 3, 4].contains(index)
      let again = isOfHub ? Codec.encode(try Codec.hubFrame(bytes)) : Codec.encode(try Codec.peerFrame(bytes))
      #expect(again == bytes, "frame \(index)")
    }
    guard case .request(let request) = try Codec.peerFrame(Self.frames[6]).message else {
      return #expect(Bool(false), "no request")
    }
    #expect(request.version == wireVersion)
  }
}
