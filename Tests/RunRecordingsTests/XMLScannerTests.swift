import RunBus
import Testing

@testable import RunRecordings

@Suite("The XML of recordings")
struct XMLScannerTests {
  /// The tags of a document: `+name` with its attributes, `-name` with its text.
  private func read(_ document: String, attributes: [String] = []) throws -> [String] {
    var scanner = XMLScanner(Array(document.utf8))
    var words: [String] = []
    while let event = try scanner.next() {
      switch event {
      case .begin:
        let values = attributes.compactMap { name in scanner.value(of: name).map { " \(name)=\($0)" } }
        words.append("+" + scanner.name + values.joined())
      case .end: words.append("-" + scanner.name + " " + String(decoding: scanner.text, as: UTF8.self))
      }
    }
    return words
  }

  @Test("Elements, attributes, texts and entities are read")
  func events() throws {
    #expect(
      try read(#"<a x="1" p:y='2 > "1"'><b/>t<c  >u</c ></a>"#, attributes: ["x", "p:y", "y"])
        == [#"+a x=1 p:y=2 > "1""#, "+b", "-b ", "+c", "-c u", "-a "])
    #expect(try read("<a>1 &lt;&#50;&#x33;&amp;&quot;&apos;&gt;</a>") == ["+a", "-a 1 <23&\"'>"])
    #expect(try read("<a b='&lt;&#228;'/>", attributes: ["b"]) == ["+a b=<ä", "-a "])
    #expect(try read("<a>x<![CDATA[<b>&]]]]>y</a>") == ["+a", "-a x<b>&]]y"])
    let around = "<?xml version='1.0'?><!-- a --><a>1<!-- - -- > <b> -->2<?p > ?>3</a><!----> <?p?>\n"
    #expect(try read(around) == ["+a", "-a 123"])
    #expect(try read("<a>1\r\n2\r3\n</a>") == ["+a", "-a 1\n2\n3\n"])
    #expect(try read("<p:a xmlns:p='u'><q:b:c/></p:a>") == ["+a", "+c", "-c ", "-a "])
  }

  @Test("Of a long text the beginning is kept, in whole characters")
  func longText() throws {
    let text = try read("<a>x" + String(repeating: "ä", count: 5000) + "</a>")
    #expect(text == ["+a", "-a x" + String(repeating: "ä", count: 2047)])
  }

  @Test(
    "Text that is not XML is refused with a reason and a position",
    arguments: [
      ("", 1, 1, "it is not XML"), (" \n hello", 2, 2, "it is not XML"), ("<a/> b", 1, 6, "something follows"),
      ("<a/><b/>", 1, 5, "something follows"), ("<a>", 1, 4, "ends in the middle"), ("<a", 1, 3, "ends in the middle"),
      ("<a b='", 1, 7, "ends in the middle"), ("<a><!-- >", 1, 10, "ends in the middle"),
      ("<a><?b >", 1, 9, "ends in the middle"), ("<a><![CDATA[ ]>", 1, 16, "ends in the middle"),
      ("<a>\nä</b>", 2, 6, "does not match"), ("<a></a:a>", 1, 10, "does not match"), ("</a>", 1, 5, "does not match"),
      ("<a b='<'/>", 1, 7, "malformed"), ("<a b=1/>", 1, 6, "malformed"), ("<a b/>", 1, 5, "malformed"),
      ("<a b='1'c='2'/>", 1, 9, "malformed"), ("<a b='1' b='2'/>", 1, 11, "malformed"), ("< a/>", 1, 2, "malformed"),
      ("<1/>", 1, 3, "malformed"), ("<a><!b></a>", 1, 4, "malformed"), ("<![CDATA[a]]>", 1, 1, "malformed"),
      ("<a></a b>", 1, 8, "malformed"), ("<a>&b;</a>", 1, 4, "an & or a name"), ("<a>&</a>", 1, 4, "an & or a name"),
      ("<a>&#0;</a>", 1, 4, "an & or a name"), ("<a>&#xFFFF;</a>", 1, 4, "an & or a name"),
      ("<a b='&c'/>", 1, 7, "an & or a name"), ("<a>&#x110000;</a>", 1, 4, "an & or a name"),
      ("<!DOCTYPE a><a/>", 1, 1, "document type"),
    ])
  func flaws(document: String, line: Int, column: Int, reason: String) {
    var scanner = XMLScanner(Array(document.utf8))
    let flaw = #expect(throws: XMLFlaw.self) { while try scanner.next() != nil {} }
    #expect(flaw?.reason.contains(reason) == true, "\(document): \(flaw?.reason ?? "")")
    let place = scanner.place(of: flaw?.index ?? 0)
    #expect([place.line, place.column] == [line, column], "\(document)")
  }

  @Test("A prefix is reported if neither its element nor one around it declares it")
  func prefixes() throws {
    func undeclared(_ document: String) throws -> [Int] {
      var scanner = XMLScanner(Array(document.utf8))
      while try scanner.next() != nil {}
      return [scanner.undeclaredCount, scanner.undeclaredLine]
    }
    #expect(try undeclared("<a xmlns='u' xml:lang='de'><b/></a>") == [0, 0])
    #expect(try undeclared("<p:a q:x='' xmlns:p='u' xmlns:q='v'><q:b><p:c/></q:b></p:a>") == [0, 0])
    #expect(try undeclared("<a>\n<p:b xmlns:p='u'/>\n<p:b/>\n<c p:d=''/></a>") == [2, 3])
    #expect(try undeclared("<a>\n<:b/><b:/></a>") == [2, 2])
  }

  @Test("Whether a piece of a document is well formed does not depend on earlier pieces")
  func pieces() {
    let text = Array("<a><b>1</b>&amp;<c x='1'><d></a><e/>".utf8)
    var scanner = XMLScanner(text, isFragment: true)
    func place(_ words: String) -> Range<Int> {
      let start = text.indices.first { text[$0...].starts(with: words.utf8) } ?? 0
      return start..<start + words.utf8.count
    }
    let pieces = [
      ("<b>1</b>&amp;", 0, true), ("<b>1</b>&am", 0, false), ("<c x='1'>", 0, false), ("<c x='1'>", 1, true),
      ("<c x='1'", 1, false), ("<d></a>", 0, false), ("<e/>", 1, false), ("<e/>", 0, true),
    ]
    for (words, open, expected) in pieces + pieces.reversed() {
      let isWellFormed = scanner.isWellFormed(place(words), leavingOpen: open)
      #expect(isWellFormed == expected, "\(words)")
    }
  }

  @Test("The number of different names is bounded, and known names cost nothing")
  func names() throws {
    func document(_ count: Int) -> String {
      "<a>" + (1..<count).map { "<n\($0)/>" }.joined() + String(repeating: "<n1 n2=''/>", count: 100) + "</a>"
    }
    #expect(try read(document(XMLNames.countMax)).count == 2 * (XMLNames.countMax + 100))
    let flaw = #expect(throws: XMLFlaw.self) { try read(document(XMLNames.countMax + 1)) }
    #expect(flaw?.isRefusal == true)
  }

  @Test("The scanner only moves forward and keeps only the open elements", arguments: [1, 2])
  func steps(length: Int) throws {
    let pieces = ["<b>", "t&lt;", "</b>", "<!-----a-->", "<?p?>", "<p:c d='e'/>", "<![CDATA[<]]>"]
    let text = "<a>" + String(repeating: pieces.joined(), count: 500 * length) + "</a>"
    var scanner = XMLScanner(Array(text.utf8))
    var last = 0
    var calls = 0
    while try scanner.next() != nil {
      #expect(scanner.index >= last)
      last = scanner.index
      calls += 1
      #expect(scanner.attributes.count <= 1 && scanner.text.count <= 20)
    }
    #expect(calls == 2000 * length + 2)
    #expect(scanner.undeclaredCount == 500 * length)
  }
}
