import Foundation
import TestSupport

/// The names of everything in the checkout, and which of the names in a page are none of them.
struct CheckoutTree {
  /// The paths of files and folders, each with a slash before it.
  private let paths: Set<String>
  /// The endings of files that are written here. A page names files of other kinds that nodes or people make.
  private let extensions: Set<String> = ["swift", "proto", "desc", "py", "md", "c", "patch"]
  private let folders: Set<String>
  private let suites: Set<String>

  init() throws {
    let files = FileManager.default
    // What is hidden is no part of it: `.build`, `.git`.
    guard let tree = files.enumerator(at: Checkout.root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    else { throw CocoaError(.fileReadNoSuchFile) }
    let root = Checkout.root.path
    paths = Set(tree.compactMap { ($0 as? URL).map { String($0.path.dropFirst(root.count)) } })
    folders = Set(try files.contentsOfDirectory(atPath: root).filter { !$0.hasPrefix(".") })
    let tests = paths.filter { $0.hasPrefix("/Tests/") && $0.hasSuffix(".swift") }
    // A target of tests is named like a suite.
    let targets = try Checkout.text("Package.swift").matches(of: /name: "(\w+Tests)"/).map { String($0.output.1) }
    let types = try tests.flatMap { path in
      try Checkout.text(String(path.dropFirst())).matches(of: /struct (\w+Tests)\b/).map { String($0.output.1) }
    }
    suites = Set(targets + types)
  }

  /// The names in backticks that look like a file, a path or a test suite of the checkout and are none, in order.
  func missing(in page: String) -> [String] {
    page.matches(of: /`([^`\n]+)`/).map { String($0.output.1) }.filter { !isThere($0) }
  }

  private func isThere(_ name: String) -> Bool {
    if name.wholeMatch(of: /\w+Tests/) != nil { return suites.contains(name) }
    // What follows a program is its arguments.
    guard let path = name.split(separator: " ").first.map({ String($0) }), isName(path) else { return true }
    return isThere(path: path)
  }

  /// Whether a word should be a path here: one of a file that is written here, or one from the root of the checkout.
  private func isName(_ word: String) -> Bool {
    guard word.wholeMatch(of: /[\w.*\/-]+/) != nil else { return false }
    // NAME stands for any name.
    guard !word.contains(/\b[A-Z]{2,}\.\w+$/) || word.hasSuffix(".md") else { return false }
    let isAtRoot = word.contains("/") && folders.contains(String(word.prefix { $0 != "/" }))
    return isAtRoot || (extensions.contains((word as NSString).pathExtension) && !word.hasPrefix("."))
  }

  /// Whether a path ends like this; `*` stands for anything but a slash.
  private func isThere(path: String) -> Bool {
    let end = "/" + path.trimmingPrefix("/").trimmingSuffix("/")
    guard end.contains("*") else { return paths.contains { $0.hasSuffix(end) } }
    let pattern = NSRegularExpression.escapedPattern(for: end).replacingOccurrences(of: "\\*", with: "[^/]*") + "$"
    return paths.contains { $0.range(of: pattern, options: .regularExpression) != nil }
  }
}

extension StringProtocol {
  fileprivate func trimmingSuffix(_ end: String) -> String { String(hasSuffix(end) ? dropLast(end.count) : self[...]) }
}
