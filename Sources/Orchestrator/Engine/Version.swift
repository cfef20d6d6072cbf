/// The version of the program and of the control API's shape.
public let orchestratorVersion = "0.1.0"
