extension OrphanWatch {
    /// Whose an adopted process is.
    enum Owner: Hashable {
        /// That of the tree with this token.
        case tree(UInt64)
        /// Nobody's who is known.
        case stray(ProcessIdentity)
        /// It was our child before we launched anything: not ours to kill.
        case inherited
        /// It was dead when we first saw it, and told nothing.
        case unknown
    }

    /// What becomes of children of ours that no tree claims.
    public enum Strangers: Hashable, Sendable {
        /// They belong to the project: reported, reaped, and killed when asked for.
        case claim
        /// They are left alone: this program makes children in other ways as well, and whoever
        /// made them waits for them.
        case leave
    }
}

extension OrphanWatch.Owner {
    var isOfATree: Bool {
        switch self {
        case .tree: true
        case .stray, .inherited, .unknown: false
        }
    }

    var isStray: Bool {
        switch self {
        case .stray: true
        case .tree, .inherited, .unknown: false
        }
    }
}
