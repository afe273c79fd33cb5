import Foundation

/// A Markdown page with its console blocks: the fenced blocks whose first line begins with `$ `.
///
/// A line that begins with `$ ` is a command; one that ends in a backslash goes on with the next line, which begins with
/// `> `. The lines behind a command are its output; ``ConsoleOutput`` compares them. An HTML comment
/// `<!-- varies: 0:05, 12 -->` directly above a block names values that are different each time.
struct DocumentPage {
  struct Command {
    /// The line of the page, counted from 1.
    let line: Int
    var text: String
    var output = ConsoleOutput()

    /// The target of a command that builds or tests the repository. Such a command is not run, because the suite is a
    /// part of `make test`.
    var makeTarget: String? {
      let words = text.split(separator: " ")
      return words.first == "make" && words.count > 1 ? String(words[1]) : nil
    }
  }

  let name: String
  private(set) var commands: [Command] = []

  init(name: String, text: String) {
    self.name = name
    var varying: [String] = []
    var fence: Fence?
    for (index, whole) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if let open = fence {
        let line = String(whole.dropFirst(min(open.indent, whole.prefix { $0 == " " }.count)))
        if line.hasPrefix("```") {
          fence = nil
          varying = []
        } else {
          fence = read(line, number: index + 1, in: open, varying: varying)
        }
      } else {
        let line = whole.trimmingCharacters(in: .whitespaces)
        if line.hasPrefix("```") {
          fence = Fence(indent: whole.prefix { $0 == " " }.count)
        } else if !line.isEmpty {
          varying = Self.varying(line)
        }
      }
    }
  }

  private struct Fence {
    let indent: Int
    /// `nil` before the first line of the block.
    var isConsole: Bool?
  }

  private mutating func read(_ line: String, number: Int, in fence: Fence, varying: [String]) -> Fence {
    var fence = fence
    let isConsole = fence.isConsole ?? line.hasPrefix("$ ")
    fence.isConsole = isConsole
    guard isConsole else { return fence }
    if line.hasPrefix("$ ") {
      commands.append(
        Command(line: number, text: String(line.dropFirst(2)), output: ConsoleOutput(varying: varying)))
    } else if line.hasPrefix("> "), commands[commands.count - 1].text.hasSuffix("\\") {
      commands[commands.count - 1].text += "\n" + line.dropFirst(2)
    } else {
      commands[commands.count - 1].output.lines.append(line)
    }
    return fence
  }

  private static func varying(_ line: String) -> [String] {
    let start = "<!-- varies: "
    guard line.hasPrefix(start), line.hasSuffix(" -->") else { return [] }
    return line.dropFirst(start.count).dropLast(4).components(separatedBy: ", ")
  }
}
