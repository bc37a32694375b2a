import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Mutations that the app discards while their request is in flight.
@Suite struct DiscardInFlightTests {
    /// The fetch after the discard has its response before the server handles the mutation.
    @Test(arguments: [true, false])
    func aMutationDiscardedInFlightIsShownWhenTheServerAppliedIt(isAnswered: Bool) throws {
        try Simulation.run { simulation in
            let world = WriteWorld(simulation)
            let client = try await world.client()
            let shown = simulation.start {
                var last: [String] = []
                for try await snapshot in client.from("items").selectAsSequence(as: [Item].self) {
                    last = snapshot.result?.map(\.title) ?? []
                    if last == ["late"], !snapshot.hasPendingMutations { return last }
                }
                return last
            }
            await simulation.settle()
            world.network.serve { request in
                request.method == "POST" ? .hold : .respond(world.server.respond(to: request))
            }
            let receipt = try await client.from("items").insert(NewItem(title: "late"))
            let held = await world.network.nextHeld()
            try await client.discard(receipt.mutationIDs[0])
            await simulation.advance(by: .seconds(2))
            let response = world.server.respond(to: held.request)
            if isAnswered { held.respond(response) } else { held.fail(WireFailure(.outcomeUnknown, "no answer")) }
            await simulation.advance(by: .seconds(2))
            await client.close()
            #expect(try await shown.value == ["late"])
        }
    }
}
