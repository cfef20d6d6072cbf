// What the examples of the guide and of the library's comments take for granted: the services,
// clients and values of an imaginary shop. Compiled with them, and with nothing else.
import Stoic
import Synchronization

struct Page: Sendable {}
struct Hit: Sendable {}
struct Message: Sendable {}
struct User: Sendable {}
struct Order: Sendable {}
struct NotFound: Error {}
struct Busy: Error {}

struct Client: Sendable {
    func fetch() async throws -> Page { Page() }
    func fetch(_ address: String) async throws -> Page { Page() }
}

struct Index: Sendable {
    func find(_ text: String) async throws -> [Hit] { [] }
}

struct Store: Sendable {
    func read(_ key: String, stale: Bool = false) async throws -> [String] { [] }
    func save() async throws {}
    func refresh() async throws {}
}

struct Database: Sendable {
    static func open() async throws -> Database { Database() }
    func close() async {}
}

struct API: Sendable {
    init(database: Database) async throws {}
    init() async throws {}
    func accept() {}
    func close() async {}
}

struct Sync: Sendable {
    static func connect() async throws -> Sync { Sync() }
    func follow() async throws {}
    func flush() async throws {}
    func disconnect() async {}
}

struct Feed: Sendable {
    static func connect() async throws -> Feed { Feed() }
    func read() async throws {}
    func write() async throws {}
}

struct Account: Sendable {
    static func signIn(_ user: String, in database: Database) async throws -> Account { Account() }
    func signOut() async {}
}

struct Cache: Sendable {
    let path = "cache"
    static func warmUp() async throws -> Cache { Cache() }
    func flush() async {}
}

struct File: Sendable {
    static func open(_ path: String) async throws -> File { File() }
    func close() async throws {}
}

struct Host: Sendable {
    func onExpiry(_ body: @escaping @Sendable () -> Void) {}
    func send(_ answer: ExpiringWork.Answer) {}
}

enum Link: CaseIterable { case down, up }
enum Signal: CaseIterable { case connect, close }

func linkTable() throws -> TransitionTable<Link, Signal> {
    try TransitionTable(
        "link", initial: .down, final: [],
        [
            .move(from: [.down], on: [.connect], to: .up),
            .move(from: [.up], on: [.close], to: .down),
            .ignore([.close], in: [.down]), .ignore([.connect], in: [.up]),
        ])
}

/// A graph without services, for examples that are not about it.
let graph: ServiceGraph = {
    do { return try ServiceGraph(label: "shop") {} } catch {
        preconditionFailure("\(error)")
    }
}()

var api: API { get async throws { try await API() } }
let breaker = CircuitBreaker("search")
let order = Order()
let client = Client()
let primary = Client()
let mirror = Client()
let mirrors = [Client(), Client()]
let index = Index()
let store = Store()
let host = Host()
let url = "https://example.org/"
let urls = ["https://example.org/a", "https://example.org/b"]
let path = "rows.csv"
let files = ["a", "b"]
let lastHits: [Hit] = []

func log(_ line: String) {}
func show(_ text: String) {}
func show(_ page: Page) {}
func serve(_ api: API) async throws {}
func serve(_ database: Database) async throws {}
func upload() async throws {}
func upload(_ file: String) async throws {}
func send(_ text: String) async throws {}
func scan() async throws {}
func showProgress() async {}
func copy(from file: File) async throws {}
func loadUser() async throws -> User { User() }
func loadOrders() async throws -> [Order] { [] }
func followPrices() async throws {}
func importOnce() async throws {}
func fetchMessages() async throws -> [Message] { [] }
func heartbeat() async throws {}
func render(_ rows: [String], quickly: Bool) async throws -> Page { Page() }
func mount(_ device: String) async -> String { device }
func finish(within limit: Duration?) {}
func reload() {}
func pay(_ order: Order) async throws {}
func pickPort() async -> UInt16 { 4_711 }
func dial() async throws {}
func scanAll() async {}
