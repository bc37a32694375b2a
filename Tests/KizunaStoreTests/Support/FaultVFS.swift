import CSQLite
import Foundation
import Synchronization

/// A file system for SQLite that passes everything on to the real one, and fails where it is told to.
///
/// It is the process's default from the first use on, so that a vault opened as in an app runs on it.
enum FaultVFS {
    enum Operation: Sendable {
        case write
        case sync
        case read
        /// Asking for a lock that keeps others out, as another process that holds it would refuse.
        case lock
    }

    /// Fails one operation: the nth of its kind on files whose path begins so.
    struct Plan: Sendable {
        let pathPrefix: String
        let operation: Operation
        let code: Int32
        var passing: Int
        /// Whether every later operation of the kind fails too, as on a disk that stays full.
        let isLasting: Bool
        var hasFailed = false
    }

    private static let plans = Mutex<[Plan]>([])

    static func arm(_ operation: Operation, code: Int32, at number: Int, isLasting: Bool, under pathPrefix: String) {
        _ = installed
        let plan = Plan(
            pathPrefix: pathPrefix, operation: operation, code: code, passing: number - 1, isLasting: isLasting)
        plans.withLock { $0.append(plan) }
    }

    /// Takes the plans for these files away; answers whether one of them has failed something.
    @discardableResult
    static func disarm(under pathPrefix: String) -> Bool {
        plans.withLock { plans in
            defer { plans.removeAll { $0.pathPrefix == pathPrefix } }
            return plans.contains { $0.pathPrefix == pathPrefix && $0.hasFailed }
        }
    }

    /// Registers it; use before the first file is opened.
    static func install() { _ = installed }

    private static let installed: Bool = register()

    fileprivate static func failure(_ operation: Operation, _ path: String) -> Int32? {
        plans.withLock { plans in
            for at in plans.indices where plans[at].operation == operation && path.hasPrefix(plans[at].pathPrefix) {
                if plans[at].hasFailed, !plans[at].isLasting { continue }
                guard plans[at].passing == 0 else {
                    plans[at].passing -= 1
                    continue
                }
                plans[at].hasFailed = true
                return plans[at].code
            }
            return nil
        }
    }

    private static func register() -> Bool {
        guard let real = sqlite3_vfs_find(nil) else { return false }
        // Both live as long as the process: SQLite keeps pointers to them.
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: FaultFile.methods)
        FaultFile.table = UnsafePointer(methods)
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: real.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(strdup("kizuna-faults"))
        vfs.pointee.pAppData = UnsafeMutableRawPointer(real)
        vfs.pointee.szOsFile = Int32(FaultFile.headerSize) + real.pointee.szOsFile
        vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
            FaultFile.open(vfs, name, file, flags, outFlags)
        }
        return sqlite3_vfs_register(vfs, 1) == SQLITE_OK
    }
}

/// What SQLite takes for an open file: a head of ours, and behind it the file of the real file system.
private struct FaultFile {
    var base: sqlite3_file
    var path: UnsafeMutablePointer<CChar>?

    static let headerSize = 64
    /// Safe because it is set once, before the first file is opened.
    nonisolated(unsafe) static var table: UnsafePointer<sqlite3_io_methods>?

    static func head(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<FaultFile>? {
        file.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: FaultFile.self) }
    }

    static func real(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<sqlite3_file>? {
        file.map { (UnsafeMutableRawPointer($0) + headerSize).assumingMemoryBound(to: sqlite3_file.self) }
    }

    static func failure(_ operation: FaultVFS.Operation, _ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32? {
        guard let path = head(file)?.pointee.path else { return nil }
        return FaultVFS.failure(operation, String(cString: path))
    }

    static func open(
        _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: sqlite3_filename?,
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let data = vfs?.pointee.pAppData, let file, let head = head(file) else { return SQLITE_CANTOPEN }
        let realVFS = data.assumingMemoryBound(to: sqlite3_vfs.self)
        file.pointee.pMethods = nil
        guard let open = realVFS.pointee.xOpen else { return SQLITE_CANTOPEN }
        let code = open(realVFS, name, real(file), flags, outFlags)
        guard code == SQLITE_OK else { return code }
        head.pointee.path = name.flatMap { strdup($0) }
        file.pointee.pMethods = table
        return SQLITE_OK
    }

    static var methods: sqlite3_io_methods {
        var methods = sqlite3_io_methods()
        methods.iVersion = 2
        methods.xClose = { file in
            let code = FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xClose?($0) } ?? SQLITE_OK
            free(FaultFile.head(file)?.pointee.path)
            return code
        }
        methods.xRead = { file, buffer, count, offset in
            FaultFile.failure(.read, file)
                ?? FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xRead?($0, buffer, count, offset) }
                ?? SQLITE_IOERR
        }
        methods.xWrite = { file, buffer, count, offset in
            FaultFile.failure(.write, file)
                ?? FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xWrite?($0, buffer, count, offset) }
                ?? SQLITE_IOERR
        }
        methods.xTruncate = { file, size in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xTruncate?($0, size) } ?? SQLITE_IOERR
        }
        methods.xSync = { file, flags in
            FaultFile.failure(.sync, file)
                ?? FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xSync?($0, flags) } ?? SQLITE_IOERR
        }
        methods.xFileSize = { file, size in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xFileSize?($0, size) } ?? SQLITE_IOERR
        }
        methods.xLock = { file, kind in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xLock?($0, kind) } ?? SQLITE_IOERR
        }
        methods.xUnlock = { file, kind in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xUnlock?($0, kind) } ?? SQLITE_IOERR
        }
        methods.xCheckReservedLock = { file, isReserved in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xCheckReservedLock?($0, isReserved) }
                ?? SQLITE_IOERR
        }
        methods.xFileControl = { file, operation, argument in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xFileControl?($0, operation, argument) }
                ?? SQLITE_NOTFOUND
        }
        methods.xSectorSize = { file in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xSectorSize?($0) } ?? 4096
        }
        methods.xDeviceCharacteristics = { file in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xDeviceCharacteristics?($0) } ?? 0
        }
        methods.xShmMap = { file, page, size, isExtending, memory in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xShmMap?($0, page, size, isExtending, memory) }
                ?? SQLITE_IOERR
        }
        methods.xShmLock = { file, offset, count, flags in
            (flags == SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE ? FaultFile.failure(.lock, file) : nil)
                ?? FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xShmLock?($0, offset, count, flags) }
                ?? SQLITE_IOERR
        }
        methods.xShmBarrier = { file in _ = FaultFile.real(file).map { $0.pointee.pMethods?.pointee.xShmBarrier?($0) } }
        methods.xShmUnmap = { file, isDeleting in
            FaultFile.real(file).flatMap { $0.pointee.pMethods?.pointee.xShmUnmap?($0, isDeleting) } ?? SQLITE_IOERR
        }
        return methods
    }
}
