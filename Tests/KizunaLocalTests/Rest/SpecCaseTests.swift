import KizunaCore
import KizunaLocal
import Testing

@Suite struct SpecCaseTests {
    @Test func everySharedCaseIsServedOrListedAsNotServed() async throws {
        let (fixture, cases) = try SpecCase.load()
        let notServed = try SpecCase.notServed()
        let cluster = try await LocalCluster.start()
        let plain = try await SpecRunner.start(fixture, in: cluster)
        let icu = try await SpecRunner.start(fixture, in: cluster, icuLocale: "en-US")
        let aggregating = try await SpecRunner.start(fixture, in: cluster, allowsAggregates: true)
        var passed: Set<String> = []
        for spec in cases {
            let runner =
                spec.requires.contains("collation=icu-en")
                ? icu : spec.requires.contains("db-aggregates-enabled=true") ? aggregating : plain
            let complaint = try await runner.complaint(about: spec)
            if complaint == nil { passed.insert(spec.id) }
            if let reason = notServed[spec.id] {
                #expect(complaint != nil, "\(spec.id) passes now; take it off the list (\(reason))")
            } else {
                #expect(complaint == nil, "\(spec.id): \(complaint ?? "")")
            }
        }
        await plain.backend.stop()
        await icu.backend.stop()
        await aggregating.backend.stop()
        await cluster.stop()
        #expect(cases.count == 450)
        #expect(passed.count == cases.count - notServed.count, "\(passed.count) passed")
        #expect(Set(notServed.keys).isSubset(of: cases.map(\.id)))
    }
}
