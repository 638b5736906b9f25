/// A data type of Postgres, by its OID in `pg_type`.
public struct PostgresType: Hashable, Sendable {
    public var oid: UInt32

    public init(oid: UInt32) { self.oid = oid }

    public static let bool = PostgresType(oid: 16)
    public static let bytea = PostgresType(oid: 17)
    public static let name = PostgresType(oid: 19)
    public static let int8 = PostgresType(oid: 20)
    public static let int2 = PostgresType(oid: 21)
    public static let int4 = PostgresType(oid: 23)
    public static let text = PostgresType(oid: 25)
    public static let json = PostgresType(oid: 114)
    public static let float4 = PostgresType(oid: 700)
    public static let float8 = PostgresType(oid: 701)
    public static let bpchar = PostgresType(oid: 1042)
    public static let varchar = PostgresType(oid: 1043)
    public static let timestamptz = PostgresType(oid: 1184)
    public static let uuid = PostgresType(oid: 2950)
    public static let jsonb = PostgresType(oid: 3802)

    static let boolArray = PostgresType(oid: 1000)
    static let byteaArray = PostgresType(oid: 1001)
    static let int2Array = PostgresType(oid: 1005)
    static let int4Array = PostgresType(oid: 1007)
    static let textArray = PostgresType(oid: 1009)
    static let int8Array = PostgresType(oid: 1016)
    static let float8Array = PostgresType(oid: 1022)
    static let timestamptzArray = PostgresType(oid: 1185)
    static let uuidArray = PostgresType(oid: 2951)
    static let jsonbArray = PostgresType(oid: 3807)
}
