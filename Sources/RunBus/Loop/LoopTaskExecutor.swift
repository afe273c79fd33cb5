/// Runs tasks on a loop's thread that belong to no actor, in turn with the loop's other work. A test that runs there
/// cannot overtake the nodes of the loop, nor they it.
package final class LoopTaskExecutor: TaskExecutor {
  private let core: LoopCore

  /// The executor of a loop.
  package init(_ loop: Loop) { core = loop.core }

  /// Queues a job of a task. Any thread may call it.
  package func enqueue(_ job: consuming ExecutorJob) { core.enqueue(.task(UnownedJob(job), self)) }
}
