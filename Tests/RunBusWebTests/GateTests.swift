import Testing

@testable import RunBusWeb

@Suite("Who may use the page")
struct GateTests {
  private let gate = Gate(token: "0123abcd", port: 8080, publicHost: nil)

  private func request(_ change: (inout WebRequest) -> Void = { _ in }) -> WebRequest {
    var request = WebRequest(method: "GET", path: "/api/records")
    (request.host, request.cookie) = ("127.0.0.1:8080", "a=b; runbus-8080=0123abcd")
    change(&request)
    return request
  }

  private func press(_ change: (inout WebRequest) -> Void = { _ in }) -> WebRequest {
    request {
      $0.method = "POST"
      $0.origin = "http://127.0.0.1:8080"
      $0.contentType = "application/json; charset=utf-8"
      $0.contentLength = "40"
      change(&$0)
    }
  }

  private func status(_ request: WebRequest, by gate: Gate? = nil) -> Int {
    switch (gate ?? self.gate).decide(request) {
    case .enter, .inspect: 200
    case .welcome: 303
    case .refuse(let status, _, _): status
    }
  }

  @Test("What operators read needs no token, and is not there for other sites, other hosts and the reverse proxy")
  func operators() {
    let proxied = Gate(token: "0123abcd", port: 8080, publicHost: "run.example.org")
    for path in ["/metrics", "/healthz"] {
      func ask(_ change: (inout WebRequest) -> Void = { _ in }) -> WebRequest {
        request {
          ($0.path, $0.cookie) = (path, nil)
          change(&$0)
        }
      }
      #expect(gate.decide(ask()) == .inspect)
      #expect(status(ask { $0.host = "evil.example:8080" }) == 421)
      #expect(status(ask { $0.origin = "http://evil.example" }) == 403)
      #expect(status(ask { $0.site = "cross-site" }) == 403)
      #expect(status(ask { $0.host = "run.example.org" }, by: proxied) == 403)
      #expect(status(ask { $0.method = "DELETE" }) == 405)
    }
  }

  @Test("With the cookie, from this machine, under one of its names")
  func enter() {
    for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"] {
      #expect(status(request { $0.host = host }) == 200)
    }
    #expect(status(press()) == 200)
    #expect(status(request { $0.site = "same-origin" }) == 200 && status(request { $0.site = "none" }) == 200)
  }

  @Test(
    "Another Host is refused, also with the cookie",
    arguments: [nil, "", "127.0.0.1", "evil.example:8080", "127.0.0.1:80"])
  func host(host: String?) { #expect(status(request { $0.host = host }) == 421) }

  @Test("A page of another site is refused")
  func origin() {
    for origin in ["http://evil.example", "null", "https://127.0.0.1:8080", "http://localhost:8080"] {
      #expect(status(request { $0.origin = origin }) == 403)
    }
    #expect(status(request { $0.site = "cross-site" }) == 403 && status(request { $0.site = "same-site" }) == 403)
    #expect(status(press { $0.origin = nil }) == 403)
    #expect(status(press { ($0.origin, $0.site) = (nil, "same-origin") }) == 200)
  }

  @Test("Without the token nothing is answered; the link gives the cookie once, on the first page only")
  func token() {
    for cookie in [nil, "", "runbus-8080=", "runbus-8080=0123abce", "runbus-8081=0123abcd", "runbus-8080=0123abcd0"] {
      #expect(status(request { $0.cookie = cookie }) == 403)
    }
    let link = request { ($0.cookie, $0.path, $0.token) = (nil, "/", "0123abcd") }
    guard case .welcome(let cookie) = gate.decide(link) else { return #expect(Bool(false), "not let in") }
    #expect(
      cookie.hasPrefix("runbus-8080=0123abcd;") && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
    #expect(status(request { ($0.cookie, $0.token) = (nil, "0123abcd") }) == 403)
    #expect(status(request { ($0.cookie, $0.path, $0.token) = (nil, "/", "0123") }) == 403)
  }

  @Test("A browser keeps the cookie of a saved link for 400 days, and any other until it ends")
  func cookie() {
    for isSaved in [false, true] {
      let gate = Gate(token: "0123abcd", port: 8080, publicHost: nil, isSaved: isSaved)
      let link = request { ($0.cookie, $0.path, $0.token) = (nil, "/", "0123abcd") }
      guard case .welcome(let cookie) = gate.decide(link) else { return #expect(Bool(false), "not let in") }
      #expect(cookie.contains("Max-Age=34560000") == isSaved)
    }
  }

  @Test("A POST is JSON of a known, small length; other methods are refused")
  func posts() {
    #expect(status(press { $0.contentType = "text/plain" }) == 415 && status(press { $0.contentType = nil }) == 415)
    for length in [nil, "", "x", "-1"] { #expect(status(press { $0.contentLength = length }) == 411) }
    #expect(status(press { $0.contentLength = "4096" }) == 200 && status(press { $0.contentLength = "4097" }) == 413)
    #expect(status(request { $0.method = "DELETE" }) == 405)
  }

  @Test("Behind a reverse proxy its name is ours, with HTTPS")
  func proxy() {
    let gate = Gate(token: "0123abcd", port: 8080, publicHost: "run.example.org")
    let request = press { ($0.host, $0.origin) = ("run.example.org", "https://run.example.org") }
    #expect(status(request, by: gate) == 200 && status(request) == 421)
    for origin in ["https://evil.example", "http://run.example.org"] {
      #expect(status(press { ($0.host, $0.origin) = ("run.example.org", origin) }, by: gate) == 403)
    }
    let link = self.request { ($0.host, $0.cookie, $0.path, $0.token) = ("run.example.org", nil, "/", "0123abcd") }
    guard case .welcome(let cookie) = gate.decide(link) else { return #expect(Bool(false), "not let in") }
    #expect(cookie.hasSuffix("; Secure"))
    // Browsers leave out the port of HTTPS.
    let withPort = Gate(token: "0123abcd", port: 8080, publicHost: "run.example.org:443")
    #expect(status(request, by: withPort) == 200)
  }

  @Test("The link of any loopback address works, also at port 80, where browsers state no port")
  func names() {
    let other = Gate(token: "0123abcd", host: "127.1.2.3", port: 8080, publicHost: nil)
    #expect(status(request { $0.host = "127.1.2.3:8080" }, by: other) == 200)
    #expect(status(request { $0.host = "127.1.2.4:8080" }, by: other) == 421)
    let web = Gate(token: "0123abcd", port: 80, publicHost: nil)
    for host in ["127.0.0.1", "localhost:80", "[::1]"] {
      #expect(status(request { ($0.host, $0.cookie) = (host, "runbus-80=0123abcd") }, by: web) == 200)
    }
  }

  @Test("Cookies of the same name that another server of this machine has set lock nobody out")
  func tossedCookies() {
    #expect(status(request { $0.cookie = "runbus-8080=x; runbus-8080=0123abcd; runbus-8080=y" }) == 200)
    #expect(status(request { $0.cookie = "runbus-8080=x; runbus-8080=y" }) == 403)
  }
}

/// What a gate looks at.
extension WebRequest {
  fileprivate var host: String? {
    get { headers["host"] }
    set { headers["host"] = newValue }
  }
  fileprivate var origin: String? {
    get { headers["origin"] }
    set { headers["origin"] = newValue }
  }
  fileprivate var site: String? {
    get { headers["sec-fetch-site"] }
    set { headers["sec-fetch-site"] = newValue }
  }
  fileprivate var cookie: String? {
    get { headers["cookie"] }
    set { headers["cookie"] = newValue }
  }
  fileprivate var contentType: String? {
    get { headers["content-type"] }
    set { headers["content-type"] = newValue }
  }
  fileprivate var contentLength: String? {
    get { headers["content-length"] }
    set { headers["content-length"] = newValue }
  }
  fileprivate var token: String? {
    get { query["token"] }
    set { query["token"] = newValue }
  }
}

@Suite("How the page is set up")
struct WebConfigurationTests {
  @Test("It listens on loopback only")
  func loopback() throws {
    for host in ["127.0.0.1", "127.1.2.3", "::1", "localhost"] { _ = try WebConfiguration(host: host) }
    for host in ["0.0.0.0", "192.168.0.1", "::", "example.org", "127.0.0.999", "127.0.0.1.evil.example", "127..0.1"] {
      #expect(throws: (any Error).self) { try WebConfiguration(host: host) }
    }
  }

  // Once broken: `--tiles http://…` was taken, so that the places of a run went over the network in the clear, because
  // only the form of the template was checked.
  @Test("Tiles are a template of an address without anything that ends an attribute")
  func tiles() throws {
    for right in [
      "https://tiles.example.org/{z}/{x}/{y}.png", "http://127.0.0.1:8090/{z}/{x}/{y}.png",
      "http://localhost/{z}/{x}/{y}.png",
    ] { _ = try WebConfiguration(tiles: right) }
    for wrong in [
      "", "http://tiles.example.org/{z}/{x}/{y}.png", "http://127.example.org/{z}/{x}/{y}.png",
      "tiles", "https://tiles.example.org", "file:///{z}/{x}/{y}", "https://a.example/{z}/{x}/{y}\" onload=\"",
      "https://a.example; script-src *//{z}/{x}/{y}", "https://*/{z}/{x}/{y}", "https://{z}.example/{x}/{y}",
    ] { #expect(throws: (any Error).self, "\(wrong)") { try WebConfiguration(tiles: wrong) } }
    #expect(WebConfiguration.origin(of: "https://a.example:8443/{z}/{x}/{y}") == "https://a.example:8443")
  }

  @Test("A public host is a name, with or without a port")
  func publicHosts() throws {
    for name in ["run.example.org", "run.example.org:8443", "localhost"] { _ = try WebConfiguration(publicHost: name) }
    for name in ["", ":", "-", ".", "a..b", "a:b", "a:0", "a:99999", "evil.com:127.0.0.1", "https://a.example"] {
      #expect(throws: (any Error).self, "\(name)") { try WebConfiguration(publicHost: name) }
    }
  }
}
