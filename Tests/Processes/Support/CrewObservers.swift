import Foundation
import Testing
import TestSupport

/// What people look at beside a crew: `top`, and a page with its lock screen. They stay while the nodes are killed, and
/// must never show an earlier state than before.
struct CrewObservers {
  private let top: NodeProcess
  private let web: NodeProcess
  private let browser: NodeProcess

  /// Starts them on the phone's machine.
  init(beside crew: Crew) async throws {
    top = crew.observer(["top", "--plain"])
    web = crew.observer(["web", "--http", "127.0.0.1:0", "--json"])
    let url = try await web.wait(for: "the page's link") { $0.json.first?["url"]?.string }
    browser = crew.client([Clients.directory + "/follow_page.py", url])
    // From its first line on it waits for a phone that is gone; before that it ends.
    try await top.wait(for: "the first line of top") { $0.lines.lazy.compactMap(Self.order).first }
  }

  /// What each of them has shown, in order.
  private var shown: [(name: String, orders: [[Int]])] {
    let seen = browser.view.json
    return [
      ("top", top.view.lines.compactMap(Self.order)),
      ("the page", seen.compactMap { Self.order($0["page"]) }),
      ("the page's lock screen", seen.compactMap { Self.order($0["lock"]) }),
    ]
  }

  private static func order(_ value: JSONValue?) -> [Int]? { value?.array?.compactMap(\.int) }

  /// The order at the beginning of a line of `top`; `nil` for other lines.
  private static func order(_ line: String) -> [Int]? {
    let order = line.prefix { $0 != " " }.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    return order.count == 3 && !order.contains(nil) ? order.compactMap(\.self) : nil
  }

  /// Waits until `top` and the page show a term and revision, or later ones.
  func reach(_ place: [Int]) async throws {
    @Sendable func isThere(_ orders: [[Int]]) -> Bool? {
      orders.last.map { !$0.prefix(2).lexicographicallyPrecedes(place) } == true ? true : nil
    }
    try await top.wait(for: "top at \(place)") { isThere($0.lines.compactMap(Self.order)) }
    try await browser.wait(for: "the page at \(place)") { isThere($0.json.compactMap { Self.order($0["page"]) }) }
    // The lock screen is pushed to on its own, at times that are not the state's.
    try await browser.wait(for: "the page's lock screen") { $0.json.lazy.compactMap { Self.order($0["lock"]) }.first }
  }

  /// Ends them, and returns how many states they have shown and which of them went back.
  func end() async throws -> (states: Int, complaints: [String]) {
    browser.closeInput()
    _ = try await browser.ending()
    for process in [top, web] {
      process.signal(SIGTERM)
      _ = try await process.ending()
    }
    var complaints: [String] = []
    for (name, orders) in shown {
      for (before, after) in zip(orders, orders.dropFirst()) where after.lexicographicallyPrecedes(before) {
        complaints.append("\(name) showed \(after) after \(before)")
      }
      if orders.isEmpty { complaints.append("\(name) has shown nothing") }
    }
    return (shown.reduce(0) { $0 + $1.orders.count }, complaints)
  }
}

extension Crew {
  /// Starts a command on the phone's machine that looks on.
  fileprivate func observer(_ words: [String]) -> NodeProcess {
    let phone = members[Self.phone]
    let isPaired = phone.place.first == "--listen"
    let command = phone.launcher + [TestBus.busnode] + words + (isPaired ? [] : phone.place)
    return bus.spawn(executable: command[0], Array(command.dropFirst()), environment: phone.environment)
  }

  /// Starts a Python client on the phone's machine.
  fileprivate func client(_ words: [String]) -> NodeProcess {
    let command = members[Self.phone].launcher + [Checkout.python] + words
    return bus.spawn(
      executable: command[0], Array(command.dropFirst()), environment: ["PYTHONDONTWRITEBYTECODE": "1"])
  }
}
