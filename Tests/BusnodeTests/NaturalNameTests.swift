import Testing

@testable import busnode

@Suite("Names in their natural order")
struct NaturalNameTests {
  // Once broken: `w10` stood before `w2`, because names were compared by their characters.
  @Test("Numbers in names count as numbers; everything else is compared character by character")
  func order() {
    let sorted = [
      "1", "2", "10", "phone", "w", "w1", "w01", "w2", "w2a", "w2-1", "w2-10", "w10", "watch", "watch-2", "watch-10",
      "watch2", "watch10", "watch99999999999999999999", "watch100000000000000000000",
    ]
    // In any order of the input, and in the same one each time.
    for shift in sorted.indices {
      let turned = Array((sorted[shift...] + sorted[..<shift]).reversed())
      let found = turned.sorted { NaturalName($0) < NaturalName($1) }
      #expect(Set(found) == Set(sorted))
      for (name, next) in [
        ("w2", "w10"), ("2", "10"), ("watch-2", "watch-10"), ("watch2", "watch10"), ("phone", "watch"), ("w1", "w2"),
        ("watch99999999999999999999", "watch100000000000000000000"), ("w2-1", "w2-10"), ("10", "phone"),
      ] {
        let places = [name, next].map { found.firstIndex(of: $0) ?? -1 }
        #expect(places[0] < places[1], "\(name), \(next): \(found)")
      }
      #expect(found == sorted.sorted { NaturalName($0) < NaturalName($1) })
    }
  }
}
