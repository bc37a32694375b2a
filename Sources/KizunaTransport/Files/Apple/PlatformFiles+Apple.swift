#if canImport(Darwin)
    internal import Foundation

    /// Protection of files at rest.
    package enum PlatformFiles {
        /// Excludes a folder and its files from backups, and encrypts them until the first unlock after a restart.
        /// Files created later inherit the protection.
        package static func protect(folder path: String) throws {
            var folder = URL(fileURLWithPath: path, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try folder.setResourceValues(values)
            let protection = [FileAttributeKey.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
            let manager = FileManager.default
            try manager.setAttributes(protection, ofItemAtPath: path)
            for name in try manager.contentsOfDirectory(atPath: path) {
                try manager.setAttributes(protection, ofItemAtPath: path + "/" + name)
            }
        }
    }
#endif
