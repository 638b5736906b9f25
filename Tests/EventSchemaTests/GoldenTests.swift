import EventSchema
import Foundation
import JSON
import Testing

/// Whatever was written once can be read for ever: `Golden` holds files of every version of every type, byte for byte as they
/// stand in logs. Files are added, never changed.
struct GoldenTests {
    /// `<type name>.<what is special>.json`.
    struct Golden: Sendable, CustomTestStringConvertible {
        var type: TypeName
        var variant: String
        var data: [UInt8]

        var name: String { "\(type).\(variant)" }
        var testDescription: String { name }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    static let all: [Golden] = {
        let folder = Bundle.module.resourceURL?.appending(path: "Golden")
        let files =
            (try? FileManager.default.contentsOfDirectory(at: folder ?? Self.folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "json" }.sorted { $0.path() < $1.path() }.compactMap { file in
            let name = file.deletingPathExtension()
            guard let type = TypeName(name.deletingPathExtension().lastPathComponent), let data = try? Data(contentsOf: file)
            else {
                return nil
            }
            return Golden(type: type, variant: name.pathExtension, data: Array(data))
        }
    }()

    @Test(arguments: all)
    func `is read as its example`(golden: Golden) throws {
        let current = try SchemaCodec.current.upcasters.current(of: golden.type.description)
        let name = "\(current.name).\(golden.variant)"
        let example = try #require(Examples.all.first { $0.name == name }, "an example named \(name) is missing").message
        let message = try SchemaCodec.current.decode(type: golden.type.description, data: golden.data)
        let isEqual = Self.areEqual(message, example)
        #expect(isEqual)
    }

    @Test(arguments: all)
    func `is written again as it was, unless it is of an older version`(golden: Golden) throws {
        guard MessageType(rawValue: golden.type.description) != nil else { return }
        let message = try SchemaCodec.current.decode(type: golden.type.description, data: golden.data)
        let encoded = SchemaCodec.current.encode(message)
        #expect(encoded.type == golden.type.description)
        #expect(String(decoding: encoded.data, as: UTF8.self) == String(decoding: golden.data, as: UTF8.self))
    }

    @Test(arguments: all)
    func `a field that is missing or of another type is named`(golden: Golden) throws {
        let object = try #require(JSON.parse(golden.data).object)
        for (field, value) in object {
            for wrong: JSON? in [nil, .integer(-1), .string("?"), .string("\u{0}"), .array([.bool(true)])] {
                var broken = object
                broken[field] = wrong
                let error: SchemaError?
                do {
                    _ = try SchemaCodec.current.decode(type: golden.type.description, data: JSON.object(broken).serialized())
                    error = nil
                } catch {
                    #expect(error == .malformed(type: golden.type.description, field: field))
                    continue
                }
                // Where nothing was written, nothing may be missing; free texts take any text.
                let isOptional = wrong == nil && value == .null
                let isFree = wrong == .string("?") && ["provider", "providerID", "key", "outcome"].contains(field)
                let isAbsent = wrong == nil && Self.optional.contains(field)
                #expect(error != nil || isOptional || isFree || isAbsent, "\(field) may be \(wrong.map { "\($0)" } ?? "missing")")
            }
        }
    }

    /// Fields that some example has no value for: `null`, or (fields that came later than their type) nothing at all.
    private static let optional: Set<String> = {
        let byType = Dictionary(grouping: Examples.all) { Swift.type(of: $0.message).type }
            .mapValues { $0.map { $0.message.json.object ?? [:] } }
        let null = byType.values.joined().flatMap { object in object.filter { $0.value == .null }.map(\.key) }
        let absent = byType.values.flatMap { objects in
            let names = objects.map { Set($0.map(\.key)) }
            return names.reduce(into: Set()) { $0.formUnion($1) }.filter { name in !names.allSatisfy { $0.contains(name) } }
        }
        return Set(null).union(absent)
    }()

    @Test(arguments: all)
    func `fields that this release does not know are ignored`(golden: Golden) throws {
        var object = try #require(JSON.parse(golden.data).object)
        object["addedLater"] = ["anything": 1]
        let message = try SchemaCodec.current.decode(type: golden.type.description, data: JSON.object(object).serialized())
        let isEqual = Self.areEqual(message, try SchemaCodec.current.decode(type: golden.type.description, data: golden.data))
        #expect(isEqual)
    }

    @Test func `every type, and every example, has a golden file`() throws {
        #expect(Set(Self.all.compactMap { MessageType(rawValue: $0.type.description) }) == Set(MessageType.allCases))
        let present = Set(Self.all.map(\.name))
        for example in Examples.all where !present.contains(example.name) {
            let data = SchemaCodec.current.encode(example.message).data
            // A new type's file is written by running the tests with this variable set, then read with care and committed.
            if ProcessInfo.processInfo.environment["LATCHKEY_WRITE_GOLDEN"] == "1" {
                try Data(data).write(to: Self.folder.appending(path: "\(example.name).json"), options: .withoutOverwriting)
            }
            Issue.record("\(example.name).json is missing; today it would be \(String(decoding: data, as: UTF8.self))")
        }
        #expect(Set(Examples.all.map(\.name)).count == Examples.all.count)
    }

    private static func areEqual<Left: Message>(_ left: Left, _ right: any Message) -> Bool { left == right as? Left }
}
