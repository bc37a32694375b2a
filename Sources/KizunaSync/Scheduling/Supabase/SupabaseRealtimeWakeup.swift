#if SupabaseSwift
    internal import KizunaCore
    public import Supabase
    internal import Synchronization

    /// The doorbell over supabase-swift's Realtime: a private channel for each topic, and a wake for each broadcast of the
    /// event `changed`. Needs the package trait `SupabaseSwift`.
    ///
    /// Each time a channel is joined, the first time and after every reconnect, it wakes too: what was broadcast while it
    /// was not joined is lost. A join that fails is tried again after 1, 2, 4 … 60 s. The channels are private, so the
    /// project needs a policy on `realtime.messages` that lets the user read these topics.
    ///
    /// See docs/spec/scheduling.md, Realtime; docs/field-failures.md, row 39.
    public final class SupabaseRealtimeWakeup: KizunaSyncRealtimeWakeup {
        private let client: SupabaseClient
        private let environment = SyncEnvironment.live()
        /// Ends of subscriptions whose channels are being left.
        private let leaving = Mutex<[AsyncGate]>([])

        /// Makes a doorbell of a client.
        public init(client: SupabaseClient) { self.client = client }

        /// Joins a private channel for each topic, when the channels of a subscription that was cancelled before are left.
        public func subscribe(
            topics: [String], onWake: @escaping @Sendable () -> Void
        ) -> any KizunaSyncRealtimeSubscription {
            // Until a topic's channel is left the SDK gives that one again, and it would be left under the new listener.
            let previous = leaving.withLock { $0 }
            let end = AsyncGate()
            let task = environment.spawn { [self] in
                for gate in previous { await gate.wait() }
                await follow(topics, onWake)
                end.open()
                leaving.withLock { $0.removeAll { $0 === end } }
            }
            return ChannelSubscription { [self] in
                leaving.withLock { $0.append(end) }
                task.cancel()
            }
        }

        private func follow(_ topics: [String], _ onWake: @escaping @Sendable () -> Void) async {
            guard !Task.isCancelled else { return }
            await withTaskGroup(of: Void.self) { group in
                for topic in topics {
                    group.addTask { [client, environment] in
                        await Self.follow(topic, of: client, environment, onWake)
                    }
                }
            }
        }

        private static func follow(
            _ topic: String, of client: SupabaseClient, _ environment: SyncEnvironment,
            _ onWake: @escaping @Sendable () -> Void
        ) async {
            let channel = client.channel(topic) { $0.isPrivate = true }
            // Both are taken before the join, so that nothing between is missed.
            let messages = channel.broadcastStream(event: "changed")
            let statuses = channel.statusChange
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in messages { onWake() } }
                group.addTask { for await status in statuses where status == .subscribed { onWake() } }
                group.addTask { await join({ try await channel.subscribeWithError() }, environment) }
            }
            await client.removeChannel(channel)
        }

        private static func join(_ attempt: () async throws -> Void, _ environment: SyncEnvironment) async {
            var wait = Duration.seconds(1)
            while !Task.isCancelled {
                do {
                    return try await attempt()
                } catch {
                    // Tried again: polling goes on meanwhile, so nothing is lost but time.
                    environment.log.log(LogLine(.info, "A realtime channel could not be joined"))
                    guard (try? await environment.sleep(wait)) != nil else { return }
                    wait = min(wait * 2, .seconds(60))
                }
            }
        }
    }

    private final class ChannelSubscription: KizunaSyncRealtimeSubscription {
        private let onCancel: @Sendable () -> Void

        init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

        func cancel() { onCancel() }
    }
#endif
