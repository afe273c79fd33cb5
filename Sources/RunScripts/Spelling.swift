/// How alike two words are written.
package enum Spelling {
  /// The bytes of the longest word that is meant by any other. The time of a comparison grows with the product of both.
  private static let bytesMax = 256

  /// Whether one word is probably meant by the other: one slip in a short word, two in a long one, or the other is
  /// its beginning.
  package static func isClose(_ word: String, _ other: String) -> Bool {
    guard word.utf8.count <= bytesMax else { return false }
    let length = max(word.count, other.count)
    return word != other && slips(from: word, to: other) <= (length < 6 ? 1 : 2)
      || word.count >= 3 && word.count < other.count && other.hasPrefix(word)
  }

  /// The least number of characters that are left out, added, replaced, or swapped with their neighbour; of a word that
  /// is longer than any other, its length.
  package static func slips(from word: String, to other: String) -> Int {
    guard word.utf8.count <= bytesMax else { return word.utf8.count }
    let (left, right) = (Array(word), Array(other))
    var rows = [Array(0...right.count)]
    for i in 1..<left.count + 1 {
      var row = [i]
      for j in 1..<right.count + 1 {
        let isSame = left[i - 1] == right[j - 1]
        var least = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (isSame ? 0 : 1))
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          least = min(least, rows[i - 2][j - 2] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}
