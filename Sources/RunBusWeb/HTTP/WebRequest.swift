import Foundation

/// A request as a browser sent it.
struct WebRequest: Hashable, Sendable {
  /// As it was sent: methods tell upper and lower case apart.
  var method: String
  /// Begins with `/`; percent encoding is removed.
  var path: String
  /// The query; of a name that comes twice the first.
  var query: [String: String] = [:]
  /// The headers, by their names in lower case.
  var headers: [String: String] = [:]
  var body: [UInt8] = []
}

/// An answer.
struct WebResponse: Sendable {
  enum Body: Sendable {
    case data(Data)
    /// Sent as it comes, until it ends or the viewer leaves.
    case stream(AsyncStream<Data>)
  }

  var status: Int
  var headers: [(name: String, value: String)]
  var body: Body

  /// Status line and headers. The connection ends with the answer, which so needs no length of a stream.
  var head: Data {
    var lines = ["HTTP/1.1 \(status) \(Self.phrases[status] ?? "Error")"]
    lines += headers.map { "\($0.name): \($0.value)" }
    if case .data(let data) = body { lines.append("Content-Length: \(data.count)") }
    lines += ["Connection: close", "", ""]
    return Data(lines.joined(separator: "\r\n").utf8)
  }

  private static let phrases = [
    200: "OK", 202: "Accepted", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 411: "Length Required", 413: "Content Too Large", 415: "Unsupported Media Type",
    421: "Misdirected Request", 422: "Unprocessable Content", 431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable",
  ]
}
