import KizunaCore
import Testing

@Suite struct ServerFailureTests {
    private func failure(_ body: String, status: Int = 400) -> ServerFailure {
        ServerFailure(status: status, body: Array(body.utf8))
    }

    @Test func postgRESTsFourMembersAreRead() {
        let seen = failure(#"{"code":"23505","details":"D","hint":null,"message":"M"}"#, status: 409)
        #expect(seen == ServerFailure(status: 409, code: "23505", message: "M", details: "D", hint: nil))
    }

    @Test func otherServersAreReadAsFarAsTheyGo() {
        #expect(
            failure(#"{"msg":"JWT expired","code":401}"#, status: 401)
                == ServerFailure(status: 401, message: "JWT expired"))
        #expect(failure(#"{"message":"first","message":"last"}"#).message == "last")
    }

    @Test(arguments: ["", "<html>502</html>", "[]", "null", "{", #"{"message":1}"#, #"{"code":{}}"#, "\u{FF}"])
    func aBodyOfAnyOtherShapeLeavesTheStatus(_ body: String) {
        #expect(failure(body, status: 502) == ServerFailure(status: 502))
    }

    @Test(
        arguments: [
            ("23505", #"duplicate key value violates unique constraint "tasks_pkey""#, "tasks_pkey"),
            ("23503", #"insert or update on table "a" violates foreign key constraint "a_b_fkey""#, "a_b_fkey"),
            ("23503", #"update or delete on table "a" violates foreign key constraint "f" on table "b""#, "f"),
            ("23514", #"new row for relation "t" violates check constraint "positive""#, "positive"),
            ("23P01", #"conflicting key value violates exclusion constraint "no_overlap""#, "no_overlap"),
            ("23502", #"null value in column "a" of relation "t" violates not-null constraint"#, nil),
            ("23502", #"null value in column "constraint " of relation "t" violates not-null constraint"#, nil),
            ("23505", "doppelter Schlüsselwert verletzt Unique-Constraint »tasks_pkey«", nil),
            ("23505", "unique constraint ", nil), ("23505", "", nil), ("23505", nil, nil),
            ("42501", #"new row violates row-level security policy; constraint "x""#, nil),
            (nil, #"duplicate key value violates unique constraint "tasks_pkey""#, nil),
        ] as [(String?, String?, String?)])
    func theConstraintIsReadFromTheSentence(_ code: String?, _ message: String?, _ constraint: String?) {
        #expect(ServerFailure(status: 409, code: code, message: message).constraint == constraint)
    }

    @Test func everyStatusAndClassIsTransientOrNotAsTheSpecSays() {
        let always: Set<Int> = [401, 408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524]
        let codes: [(String?, Bool)] = [
            (nil, false), ("", false), ("08006", true), ("08000", true), ("40001", true), ("40P01", true),
            ("53100", true), ("53300", true), ("57014", true), ("57P01", true), ("55P03", true), ("55006", false),
            ("55000", false), ("21000", false), ("22P02", false), ("23505", false), ("42501", false), ("P0001", false),
            ("XX000", false), ("54001", false), ("58030", false), ("25006", false), ("PGRST116", false),
            ("PGRST001", false), ("4", false), ("5", false),
        ]
        for status in 100...599 {
            for (code, isTransientAt500) in codes {
                let expected = always.contains(status) || status == 500 && isTransientAt500
                let seen = ServerFailure(status: status, code: code).isTransient
                #expect(seen == expected, "\(status) \(code ?? "no code")")
            }
        }
    }
}
