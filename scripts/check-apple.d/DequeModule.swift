// The members of DequeModule's Deque that RunCore uses. Never run.
public struct Deque<Element>: RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
  ExpressibleByArrayLiteral
{
  private var elements: [Element] = []
  public init() {}
  public init(arrayLiteral elements: Element...) { self.elements = elements }
  public var startIndex: Int { 0 }
  public var endIndex: Int { elements.count }
  public subscript(position: Int) -> Element {
    get { elements[position] }
    set { elements[position] = newValue }
  }
  public mutating func replaceSubrange<Other: Collection>(_ range: Range<Int>, with other: Other)
  where Other.Element == Element {
    elements.replaceSubrange(range, with: other)
  }
  public mutating func popFirst() -> Element? { elements.isEmpty ? nil : elements.removeFirst() }
  public mutating func popLast() -> Element? { elements.popLast() }
  public mutating func prepend(_ element: Element) { elements.insert(element, at: 0) }
}
extension Deque: Sendable where Element: Sendable {}
extension Deque: Equatable where Element: Equatable {}
extension Deque: Hashable where Element: Hashable {}
