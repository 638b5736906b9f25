internal import Glibc

/// Reads an operator's folder of templates.
enum TemplateFolder {
    private static let largest = 65_536

    /// The `.txt` and `.html` files in the folder, by name; others may lie beside them.
    static func files(in path: String) throws(MessageTemplates.Fault) -> [MessageTemplates.File] {
        guard let folder = opendir(path) else { throw fault(path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".txt") || name.hasSuffix(".html"), !name.hasPrefix(".") { names.append(name) }
        }
        var files: [MessageTemplates.File] = []
        for name in names.sorted() { files.append((name, try contents(of: "\(path)/\(name)"))) }
        return files
    }

    private static func contents(of path: String) throws(MessageTemplates.Fault) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw fault(path) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: largest + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress! + count, $0.count - count) }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw fault(path) }
            if more == 0 { return Array(bytes[..<count]) }
            count += more
        }
        throw MessageTemplates.Fault(file: path, reason: "it is larger than \(largest) bytes")
    }

    private static func fault(_ path: String) -> MessageTemplates.Fault {
        MessageTemplates.Fault(file: path, reason: String(cString: strerror(errno)))
    }
}
