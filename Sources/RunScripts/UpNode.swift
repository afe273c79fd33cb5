/// A node of ``UpRun`` that runs: a process, or a node in this one. It runs once; its device's next life is another one.
package protocol UpNode: Sendable {
  /// Takes an order.
  func tell(_ order: NodeOrder)
  /// Ends it in good order.
  func end()
  /// Ends it as a crash would.
  func kill()
  /// Lets it stand still.
  func sleep()
  /// Lets it go on.
  func wake()
  /// Runs it to its end, and reports what it shows and how it ends.
  func run(_ report: @Sendable @escaping (UpEvent) -> Void) async
}

/// What happens while ``UpRun`` plays, in the order in which it becomes known.
package enum UpEvent: Sendable {
  /// A node wrote a line.
  case heard(SpawnedNode, EventLineJSON)
  /// A node has ended: how, and its last lines on standard error. `life` counts the incarnations of the node.
  case ended(SpawnedNode, life: Int, NodeEnding, lastErrors: [String])
  /// A line of the script, or a fault, is due.
  case step(ScriptStep)
  /// A fault begins.
  case fault(Fault)
  /// All lines of the script have been due.
  case scriptIsOver
  /// A line of the script has not come true: why, with its number.
  case scriptFailed(String)
  /// All faults have been taken back.
  case faultsAreOver
  /// The bus time of the recording has passed.
  case recordingIsOver
  /// A tenth of a second has passed.
  case tick
  /// A key was pressed, or a signal has come.
  case wish(UpWish)
  /// The reader of standard output has gone.
  case readerIsGone
}

/// A node as a process of `busnode`.
struct ProcessNode: UpNode {
  let child: NodeChild
  let plan: UpRun.Plan

  init(_ node: SpawnedNode, life: Int, plan: UpRun.Plan) {
    (child, self.plan) = (NodeChild(node, life: life), plan)
  }

  func tell(_ order: NodeOrder) { child.tell(order) }
  func end() { child.end() }
  func kill() { child.kill() }
  func sleep() { child.sleep() }
  func wake() { child.wake() }

  func run(_ report: @Sendable @escaping (UpEvent) -> Void) async {
    await child.run(
      executable: plan.executable, arguments: plan.arguments[child.node] ?? [], environment: plan.environment,
      report: report)
  }
}
