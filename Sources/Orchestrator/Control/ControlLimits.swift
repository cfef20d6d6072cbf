/// The bounds of the control server. Tests make some of them smaller.
struct ControlLimits {
    /// Connections at a time. More than people and their tools open; few enough descriptors.
    var connections = 128
    /// Bytes of a request's body.
    var body = 1 << 20
    /// Bytes waiting for a client of a stream; what does not fit is dropped and counted.
    var output = 1 << 20
    /// From the first byte of a request to its last, and from a connection to its first byte.
    var request = Duration.seconds(10)
    /// Between two requests on a connection.
    var idle = Duration.seconds(60)
    /// For a client to take any byte of an answer that is complete.
    var stall = Duration.seconds(10)
    /// For all clients together to take what is left when the server closes.
    var farewell = Duration.milliseconds(500)
    /// Until the next try when the kernel gave no connection.
    var acceptPause = Duration.seconds(1)
    /// Until the next try when the socket could not be made again.
    var restorePause = Duration.seconds(1)
    /// Descriptors held back, so that somebody can ask what goes on when none are left.
    var reserve = 4
    /// Connections accepted in one turn; the rest waits for the next one.
    var acceptedPerTurn = 16
    /// Bytes read from one connection in one turn.
    var readPerTurn = 64 << 10
}
