import CProcess

/// What the kernel grants to launches and trees; a `false` names a fallback in use.
public struct KernelFeatures: Hashable, Sendable {
    /// A child is made by clone3; else by clone.
    public var hasClone3: Bool
    /// A launch costs the same however many descriptors we hold; else more with each.
    public var sharesTable: Bool
    /// A child can be born in a cgroup.
    public var entersCgroups: Bool
    /// The kernel lists the children of a process; else all of /proc is read for them.
    public var listsChildren: Bool
    /// Orphans are children of the main thread and can be waited for all together.
    public var mainReaps: Bool
    /// We adopt the orphans of our descendants; else escapees go to init and are lost to us,
    /// unless there is a cgroup.
    public var adoptsOrphans: Bool

    init(_ features: cproc_features) {
        hasClone3 = features.clone3
        sharesTable = features.shared_table
        entersCgroups = features.into_cgroup
        listsChildren = features.child_lists
        mainReaps = features.main_reaps
        adoptsOrphans = features.subreaper
    }

    /// Each by its name in `version --json`.
    public var named: [(name: String, value: Bool)] {
        [
            ("clone3", hasClone3), ("sharedTable", sharesTable), ("intoCgroup", entersCgroups),
            ("childLists", listsChildren), ("mainReaps", mainReaps), ("subreaper", adoptsOrphans),
        ]
    }
}
