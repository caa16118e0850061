import Foundation

extension SessionConfiguration {
    /// A folder that the store's file may be made in.
    struct DiskFolder: Sendable, Hashable {
        var path: String
        /// Whether it was named for this: then it may also be in memory.
        var isChosen = false
    }

    /// The folders in which the store's file is made, in order of preference: the one that is named, or the user's cache
    /// folder and those of temporary files.
    var diskFolders: [DiskFolder] {
        if let diskFolder { return [DiskFolder(path: diskFolder, isChosen: true)] }
        return Self.cacheFolders(ProcessInfo.processInfo.environment).map { DiskFolder(path: $0) }
    }

    /// XDG Base Directory Specification: $XDG_CACHE_HOME, and $HOME/.cache where it isn't set or no absolute path. Then
    /// the folders of temporary files.
    static func cacheFolders(_ environment: [String: String]) -> [String] {
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let cache = absolute("XDG_CACHE_HOME") ?? absolute("HOME").map { $0 + "/.cache" }
        return [cache, absolute("TMPDIR"), "/tmp"].compactMap { $0 }
    }
}
