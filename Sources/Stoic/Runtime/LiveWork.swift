import Synchronization

/// A place in this library where a task waits or is started. Constants only, so that passing one
/// along costs nothing.
package struct Site: Sendable, CustomStringConvertible {
    /// What is waited for, or what was started.
    let what: StaticString
    private let file: StaticString
    private let line: Int

    /// This place in the source.
    package init(_ what: StaticString, file: StaticString = #fileID, line: Int = #line) {
        self.what = what
        self.file = file
        self.line = line
    }

    package var description: String { "\(what) (\(file):\(line))" }
}

/// What a test sees of the library's work: the tasks that live, the scopes that are open, and who
/// waits where.
///
/// Where no test watches, all this costs is one load of a counter.
package final class LiveWork: Sendable {
    /// What an entry stands for.
    package enum Kind: Hashable, Sendable { case task, scope, wait }

    /// One piece of work.
    package struct Entry: Sendable {
        /// What it is.
        package let kind: Kind
        /// Where it waits, or was started.
        package let site: Site
        /// The name that its owner gave it; empty if it has none.
        package let label: String
        /// The labels of the scopes around it, the outermost first.
        package let path: [String]
        /// The number of its task, as the one who watches counts them.
        package let task: Int
    }

    @TaskLocal private static var current: LiveWork?
    private static let watchers = Atomic<Int>(0)
    private static let lastID = Atomic<UInt64>(0)

    /// Who watches the current task.
    static var watching: LiveWork? {
        guard watchers.load(ordering: .relaxed) > 0 else { return nil }
        return current
    }

    private let outer: LiveWork?
    private let runningTask: @Sendable () -> Int
    private let taskBegan: @Sendable (Site) -> Void
    private let live = Mutex<[UInt64: Entry]>([:])

    /// - Parameters:
    ///   - runningTask: The number of the task that runs now.
    ///   - taskBegan: Called in every task of the library when it begins.
    package init(
        runningTask: @escaping @Sendable () -> Int = { 0 },
        taskBegan: @escaping @Sendable (Site) -> Void = { _ in }
    ) {
        outer = Self.current
        self.runningTask = runningTask
        self.taskBegan = taskBegan
    }

    /// What lives now, in the order it began.
    package var entries: [Entry] {
        live.withLock { $0.sorted { $0.key < $1.key } }.map(\.value)
    }

    /// Runs `body` watched by this.
    package nonisolated(nonsending) func watch<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        Self.watchers.add(1, ordering: .relaxed)
        defer { Self.watchers.subtract(1, ordering: .relaxed) }
        return try await bound(body)
    }

    private func bound<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        try await Self.$current.withValue(self) {
            _ = isolation
            return try await body()
        }
    }

    /// Notes that something begins; who watched before notes it too.
    func begin(_ kind: Kind, _ site: Site, _ label: String = "") -> UInt64 {
        let id = Self.lastID.add(1, ordering: .relaxed).newValue
        let path = Context.current.path?.labels ?? []
        var next: LiveWork? = self
        while let watcher = next {
            let entry = Entry(
                kind: kind, site: site, label: label, path: path, task: watcher.runningTask())
            watcher.live.withLock { $0[id] = entry }
            next = watcher.outer
        }
        return id
    }

    /// Notes that it is over.
    func end(_ id: UInt64) {
        var next: LiveWork? = self
        while let watcher = next {
            _ = watcher.live.withLock { $0.removeValue(forKey: id) }
            next = watcher.outer
        }
    }

    /// Notes which task runs what was started at `site`.
    func enter(_ site: Site) {
        var next: LiveWork? = self
        while let watcher = next {
            watcher.taskBegan(site)
            next = watcher.outer
        }
    }
}
