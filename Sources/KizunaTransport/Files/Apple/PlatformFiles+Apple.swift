#if canImport(Darwin)
    internal import Foundation

    /// What the platform does for files at rest.
    package enum PlatformFiles {
        /// Keeps a folder and what is in it out of backups, and encrypted until the device's first unlock after a start.
        /// Files made in the folder later take its protection over.
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
