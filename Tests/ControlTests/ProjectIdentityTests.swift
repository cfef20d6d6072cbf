import Glibc
import Testing

@testable import Orchestrator

@Suite("ProjectIdentity", .timeLimit(.minutes(1)))
struct ProjectIdentityTests {
    private let scratch = Scratch()

    @Test("the directory is resolved: two links to it are one project")
    func linkedDirectory() throws {
        let real = "\(scratch.path)/shop"
        unsafe mkdir(real, 0o700)
        unsafe symlink(real, "\(scratch.path)/link")
        let one = try ProjectIdentity(file: "\(real)/orchestrator.yaml")
        let other = try ProjectIdentity(file: "\(scratch.path)/link/./orchestrator.yaml")
        #expect(one == other)
        #expect(one.id.hasPrefix("shop-"))
    }

    @Test("the file is not resolved: a swapped link keeps its identity, another name has its own")
    func linkedFile() throws {
        let file = "\(scratch.path)/current.yaml"
        unsafe symlink("v1.yaml", file)
        let before = try ProjectIdentity(file: file)
        unsafe unlink(file)
        unsafe symlink("v2.yaml", file)
        #expect(try ProjectIdentity(file: file) == before)
        #expect(try ProjectIdentity(file: "\(scratch.path)/v1.yaml").id != before.id)
    }

    @Test("a name wins over the path")
    func named() throws {
        let one = try ProjectIdentity(file: "/nowhere/a.yaml", name: "My Shop/1")
        #expect(one == (try ProjectIdentity(file: "/elsewhere/b.yaml", name: "My Shop/1")))
        #expect(one.id.hasPrefix("my-shop-1-"))
        #expect(one.id != (try ProjectIdentity(file: "/a", name: "My Shop 1")).id)
    }

    @Test("the id stays the same over versions of this program")
    func stable() throws {
        #expect(try ProjectIdentity(file: "/a", name: "shop").id == "shop-8810c3976289e10e")
        #expect(FNVHash(of: []).hexadecimal == "cbf29ce484222325")
        #expect(FNVHash(of: "foobar".utf8).hexadecimal == "85944171f73967e8")
    }

    @Test("an id is safe in paths and short, whatever the name is")
    func sanitized() throws {
        let long = String(repeating: "x", count: 5000)
        for name in ["../../etc", "\n\0", "ÄÖÜ", long, "a b;c$(d)"] {
            let id = try ProjectIdentity(file: "/a", name: name).id
            #expect(id.utf8.count <= 41)
            #expect(
                id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) })
        }
    }

    @Test("what names no file in a directory that is there is refused")
    func refused() {
        for file in ["", "/", "a/", "..", "/a/.", "\(scratch.path)/missing/orchestrator.yaml"] {
            #expect(throws: ProjectError.self) { try ProjectIdentity(file: file) }
        }
        #expect(throws: ProjectError.self) { try ProjectIdentity(file: "/a", name: "") }
        #expect(throws: Never.self) { try ProjectIdentity(file: "orchestrator.yaml") }
        #expect(throws: Never.self) { try ProjectIdentity(file: "/orchestrator.yaml") }
    }
}
