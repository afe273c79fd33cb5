/// Decides which requests are answered. It is asked before every route.
///
/// A page of another site, opened in the same browser, can send requests to this machine. Three things keep it out: the
/// `Host` must be one of ours (a name that another site points to this machine is not), a request that changes something
/// must state our own `Origin`, and every request must have the token, which only the printed link contains.
struct Gate: Sendable {
  /// What becomes of a request.
  enum Decision: Hashable, Sendable {
    case enter
    /// A path for operators, which needs no token.
    case inspect
    /// The link was opened: give the cookie, and show the page under its own address, without the token.
    case welcome(cookie: String)
    case refuse(status: Int, code: String, message: String)
  }

  /// The largest body of a request, bytes.
  static let bodyBytesMax = RequestReader.bodyBytesMax

  private let token: String
  private let hosts: Set<String>
  private let cookieName: String
  private let publicHost: String?
  /// How long a browser keeps the cookie; the text is empty when that is until the browser ends.
  private let lasting: String

  /// A gate of a server.
  ///
  /// - Parameters:
  ///   - token: The secret in the link.
  ///   - host: The address that the server listens at, of which the link is made.
  ///   - port: The port that the server listens at.
  ///   - publicHost: The name, with its port unless it is 443, under which a reverse proxy serves the page by HTTPS.
  ///   - isSaved: Whether the token is kept, so that a browser may keep its cookie, too.
  init(token: String, host: String = "127.0.0.1", port: UInt16, publicHost: String?, isSaved: Bool = false) {
    self.token = token
    // 400 days are the most that browsers keep a cookie.
    lasting = isSaved ? "; Max-Age=34560000" : ""
    // Browsers leave out the usual ports.
    self.publicHost = publicHost.map { $0.lowercased() }.map { $0.hasSuffix(":443") ? String($0.dropLast(4)) : $0 }
    hosts = Self.ownHosts(host, port: port).union(self.publicHost.map { [$0, "\($0):443"] } ?? [])
    // Browsers keep cookies for all ports of a host together.
    cookieName = "runbus-\(port)"
  }

  /// What the `Host` of a request to this machine may be.
  static func ownHosts(_ host: String, port: UInt16) -> Set<String> {
    let names = ["127.0.0.1", "localhost", "[::1]", host.contains(":") ? "[\(host)]" : host.lowercased()]
    return Set(names.map { "\($0):\(port)" } + (port == 80 ? names : []))
  }

  func decide(_ request: WebRequest) -> Decision {
    let headers = request.headers
    guard let host = headers["host"]?.lowercased(), hosts.contains(host) else {
      return refuse(
        421, "host", "this server is not \(Self.shown(headers["host"])): open the link that busnode web printed")
    }
    if let origin = headers["origin"], !isOurs(origin, host) {
      return refuse(403, "origin", "a page of another site may not ask here")
    }
    // Browsers send it.
    let site = headers["sec-fetch-site"]
    if request.path != "/", let site, site != "same-origin", site != "none" {
      return refuse(403, "origin", "a page of another site may not ask here")
    }
    switch request.method {
    case "GET": break
    case "POST":
      guard headers["origin"] != nil || site == "same-origin" else {
        return refuse(403, "origin", "a POST must state its Origin")
      }
      let type = headers["content-type"]?.prefix { $0 != ";" }.lowercased()
      guard type == "application/json" else { return refuse(415, "contentType", "a POST has application/json") }
      guard let length = headers["content-length"].flatMap({ Int($0) }), length >= 0 else {
        return refuse(411, "length", "a POST states its Content-Length")
      }
      guard length <= Self.bodyBytesMax else {
        return refuse(413, "length", "a POST has at most \(Self.bodyBytesMax) bytes")
      }
    default: return refuse(405, "method", "only GET and POST are answered")
    }
    // Not by way of the reverse proxy, which others can reach.
    if request.method == "GET", MetricsPage.paths.contains(request.path), !isPublic(host) { return .inspect }
    if cookieValues(in: headers["cookie"]).contains(where: isOurToken) { return .enter }
    if request.method == "GET", request.path == "/", isOurToken(request.query["token"]) {
      let secure = isPublic(host) ? "; Secure" : ""
      return .welcome(cookie: "\(cookieName)=\(token); HttpOnly; SameSite=Strict; Path=/\(secure)\(lasting)")
    }
    return refuse(403, "token", "open the link that busnode web printed: it has the token")
  }

  private func isOurs(_ origin: String, _ host: String) -> Bool {
    origin.lowercased() == (isPublic(host) ? "https://\(publicHost ?? host)" : "http://\(host)")
  }

  /// Whether a host is the name of the reverse proxy, which serves by HTTPS.
  private func isPublic(_ host: String) -> Bool { publicHost.map { host == $0 || host == "\($0):443" } ?? false }

  /// All values of our cookie: another server of this machine can set more of them for its own paths.
  private func cookieValues(in header: String?) -> [String] {
    (header ?? "").split(separator: ";").compactMap { part in
      let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimming() }
      return pair.count == 2 && pair[0] == cookieName ? pair[1] : nil
    }
  }

  /// Compares in a time that does not depend on where the two differ.
  private func isOurToken(_ other: String?) -> Bool {
    let (ours, theirs) = (Array(token.utf8), Array((other ?? "").utf8))
    guard ours.count == theirs.count else { return false }
    return zip(ours, theirs).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func refuse(_ status: Int, _ code: String, _ message: String) -> Decision {
    .refuse(status: status, code: code, message: message)
  }

  private static func shown(_ host: String?) -> String {
    guard let host, host.utf8.count <= 100 else { return "what was asked for" }
    return String(host.unicodeScalars.map { $0.isASCII && $0.value > 32 && $0.value < 127 ? Character($0) : "?" })
  }
}

extension Substring {
  fileprivate func trimming() -> String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
