/// Those who wait, first come first served; anybody may leave from anywhere.
///
/// A doubly linked list in one array, so that joining and leaving are O(1) and allocate nothing
/// once the array has grown to the longest line there was.
struct WaitLine<Element> {
    /// Somebody's place. It stays their own: a place that is taken again has another turn.
    struct Ticket: Hashable, Sendable {
        fileprivate let place: Int
        fileprivate let turn: UInt64
    }

    private struct Place {
        var element: Element?
        var turn: UInt64
        var before: Int
        var after: Int
    }

    private static var none: Int { -1 }
    private var places: [Place] = []
    private var head = Self.none
    private var tail = Self.none
    /// The first of the places nobody is at; they are linked by `after`.
    private var free = Self.none
    private var nextTurn: UInt64 = 0

    /// How many wait.
    private(set) var count = 0

    /// The ticket of who is first.
    var first: Ticket? {
        head == Self.none ? nil : Ticket(place: head, turn: places[head].turn)
    }

    /// Who holds `ticket`, if they still wait.
    subscript(ticket: Ticket) -> Element? {
        let place = places[ticket.place]
        return place.turn == ticket.turn ? place.element : nil
    }

    /// Joins at the end.
    mutating func append(_ element: Element) -> Ticket {
        let turn = nextTurn
        nextTurn += 1
        let new = Place(element: element, turn: turn, before: tail, after: Self.none)
        let place: Int
        if free == Self.none {
            place = places.count
            places.append(new)
        } else {
            place = free
            free = places[place].after
            places[place] = new
        }
        if tail == Self.none { head = place } else { places[tail].after = place }
        tail = place
        count += 1
        return Ticket(place: place, turn: turn)
    }

    /// Leaves; `nil` if they had left before.
    mutating func remove(_ ticket: Ticket) -> Element? {
        let place = ticket.place
        guard places[place].turn == ticket.turn, let element = places[place].element
        else { return nil }
        let before = places[place].before
        let after = places[place].after
        if before == Self.none { head = after } else { places[before].after = after }
        if after == Self.none { tail = before } else { places[after].before = before }
        places[place].element = nil
        places[place].after = free
        free = place
        count -= 1
        return element
    }

    /// The first leaves.
    mutating func removeFirst() -> Element? { first.flatMap { remove($0) } }
}
