import Foundation

/// Reads one request of HTTP/1.1 from bytes that come in any pieces. It takes a bounded number of bytes, and its work grows
/// linearly with them.
///
/// It refuses what two readers of HTTP could understand in two ways: a body without a length or with two, a name that comes
/// twice and decides something, folded headers, a line that ends with a single line feed.
struct RequestReader: Sendable {
  /// The most bytes of a request line with all headers.
  static let headBytesMax = 16 << 10
  /// The most bytes of a body.
  static let bodyBytesMax = 4096

  /// What has been read so far.
  enum Outcome: Hashable, Sendable {
    case needsMore
    /// The client waits to be told that it may send its body.
    case wantsContinue
    case complete(WebRequest)
    case refused(status: Int, String)
  }

  private var bytes: [UInt8] = []
  /// How many bytes were searched for the end of the head.
  private var searched = 0
  private var request: WebRequest?
  private var bodyLength = 0

  /// Takes the next bytes. After ``Outcome/complete(_:)`` and ``Outcome/refused(status:_:)`` the reader is done.
  mutating func read(_ new: some Sequence<UInt8>) -> Outcome {
    bytes += new
    if request != nil { return readBody() }
    guard let end = endOfHead() else {
      return bytes.count > Self.headBytesMax
        ? .refused(status: 431, "a request has at most \(Self.headBytesMax) bytes of headers") : .needsMore
    }
    guard end <= Self.headBytesMax else {
      return .refused(status: 431, "a request has at most \(Self.headBytesMax) bytes of headers")
    }
    let head = bytes.prefix(end)
    guard let text = String(validating: head, as: UTF8.self) else { return Self.malformed("its headers are no text") }
    bytes.removeFirst(end + 4)
    let outcome = readHead(text)
    guard outcome == nil else { return outcome ?? .needsMore }
    if request?.headers["expect"]?.lowercased() == "100-continue", bytes.count < bodyLength { return .wantsContinue }
    return readBody()
  }

  /// Where the blank line begins that ends the head.
  private mutating func endOfHead() -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    var index = max(0, searched - 3)
    defer { searched = bytes.count }
    while index + 4 <= bytes.count {
      if bytes[index] == mark[0], bytes[index..<index + 4].elementsEqual(mark) { return index }
      index += 1
    }
    return nil
  }

  private mutating func readBody() -> Outcome {
    guard var request, bytes.count >= bodyLength else { return .needsMore }
    // What comes behind the body is not read: each connection has one request.
    request.body = Array(bytes.prefix(bodyLength))
    return .complete(request)
  }

  // MARK: The head

  /// Keeps the request of a head; returns why it is refused.
  private mutating func readHead(_ text: String) -> Outcome? {
    let lines = text.components(separatedBy: "\r\n")
    // A control character, also a single line feed, is not part of any line.
    guard
      text.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 || $0 == "\r" || $0 == "\n" || $0 == "\t" }),
      lines.allSatisfy({ !$0.unicodeScalars.contains { $0 == "\r" || $0 == "\n" } })
    else { return Self.malformed("a line has a control character") }
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
      return Self.malformed("it is no request of HTTP/1.1")
    }
    guard var request = Self.request(method: String(words[0]), target: String(words[1])) else {
      return Self.malformed("its address begins with / and has valid percent encoding")
    }
    for line in lines.dropFirst() {
      guard let (name, value) = Self.header(line) else {
        return Self.malformed("a header is a name, a colon and a value")
      }
      if let before = request.headers[name] {
        // Several lines of a header mean one list.
        guard !Self.single.contains(name) else { return Self.malformed("it has two headers \(name)") }
        request.headers[name] = before + (name == "cookie" ? "; " : ", ") + value
      } else {
        request.headers[name] = value
      }
    }
    if request.headers["transfer-encoding"] != nil {
      return .refused(status: 501, "a body has a Content-Length and no transfer coding")
    }
    if let length = request.headers["content-length"] {
      guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return Self.malformed("its Content-Length is no number")
      }
      guard let count = Int(length), count <= Self.bodyBytesMax else {
        return .refused(status: 413, "a body has at most \(Self.bodyBytesMax) bytes")
      }
      bodyLength = count
    }
    self.request = request
    return nil
  }

  private static let single: Set<String> = [
    "host", "origin", "content-length", "content-type", "transfer-encoding", "sec-fetch-site", "expect",
  ]

  private static func malformed(_ reason: String) -> Outcome { .refused(status: 400, "this is no request: \(reason)") }

  private static func request(method: String, target: String) -> WebRequest? {
    guard !method.isEmpty, method.utf8.count <= 20, target.hasPrefix("/") else { return nil }
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = parts[0].removingPercentEncoding else { return nil }
    var request = WebRequest(method: method, path: path)
    for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = sides[0].removingPercentEncoding,
        let value = (sides.count > 1 ? sides[1] : "").removingPercentEncoding
      else { return nil }
      if request.query[name] == nil { request.query[name] = value }
    }
    return request
  }

  private static func header(_ line: String) -> (name: String, value: String)? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let name = line[..<colon]
    // A blank before the name continues another header, one behind it is a known trick.
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
    let value = line[line.index(after: colon)...]
    return (name.lowercased(), value.trimmingCharacters(in: .whitespaces))
  }
}
