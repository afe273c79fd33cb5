public import RunBus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One record as one file of HTML, which any browser shows without a server or a network.
public enum RecordPage {
  private static let policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    + "form-action 'none'"

  /// The file.
  ///
  /// - Parameters:
  ///   - record: The record; its route is drawn with at most 1,000 points, and the file holds no others; nor more than a
  ///     sample in ten seconds.
  ///   - units: The units that the file opens in, until the reader chooses others; `nil` for those of the reader.
  /// - Throws: An error of `JSONEncoder`, for a record that has a number which JSON cannot write.
  public static func html(_ record: RunRecord, units: RunUnits? = nil) throws -> String {
    var record = record
    record.body.route = RouteThinning.thinned(record.body.route, to: 1000)
    record.body.series = record.body.series.spaced(by: RecordSeries.usualInterval)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // A title may contain anything, also the end of a script.
    let data = String(decoding: try encoder.encode(record), as: UTF8.self).replacing("<", with: "\\u003c")
    let script = PageFiles.modules.map(joined).joined(separator: "\n")
    let opening = units.map { "<html data-units=\"\($0 == .imperial ? "mi" : "km")\" " } ?? "<html "
    return PageFiles.index_html.replacing("<html ", with: opening)
      .replacing(
        "<link rel=\"stylesheet\" href=\"page.css\">",
        with:
          "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n<style>\n\(PageFiles.page_css)</style>"
      )
      .replacing(
        "<script type=\"module\" src=\"page.js\"></script>",
        with:
          "<script type=\"application/json\" id=\"record\">\(data)</script>\n<script type=\"module\">\n\(script)</script>"
      )
  }

  /// A module without its imports and exports.
  private static func joined(_ module: String) -> String {
    module.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("import ") }
      .map { $0.hasPrefix("export ") ? String($0.dropFirst(7)) : String($0) }.joined(separator: "\n")
  }
}
