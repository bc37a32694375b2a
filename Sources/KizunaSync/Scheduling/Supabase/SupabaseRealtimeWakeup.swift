#if SupabaseSwift
    internal import KizunaCore
    public import Supabase

    /// The doorbell over supabase-swift's Realtime: a private channel for each topic, and a wake for each broadcast of the
    /// event `changed`. Needs the package trait `SupabaseSwift`.
    ///
    /// Each time a channel is joined, the first time and after every reconnect, it wakes too: what was broadcast while it
    /// was not joined is lost. A join that fails is tried again after 1, 2, 4 … 60 s. The channels are private, so the
    /// project needs a policy on `realtime.messages` that lets the user read these topics.
    ///
    /// Source: seed "Host scheduler", realtime wake; spec scheduler §1.14.10; spec field-failures 39.
    public final class SupabaseRealtimeWakeup: KizunaSyncRealtimeWakeup {
        private let client: SupabaseClient
        private let environment = SyncEnvironment.live()

        /// Makes a doorbell of a client.
        public init(client: SupabaseClient) { self.client = client }

        /// Joins a private channel for each topic.
        public func subscribe(
            topics: [String], onWake: @escaping @Sendable () -> Void
        ) -> any KizunaSyncRealtimeSubscription {
            let tasks = topics.map { topic in
                environment.spawn { [client, environment] in
                    await Self.follow(topic, of: client, environment, onWake)
                }
            }
            return ChannelSubscription(tasks: tasks)
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
        private let tasks: [TaskTicket]

        init(tasks: [TaskTicket]) { self.tasks = tasks }

        func cancel() { for task in tasks { task.cancel() } }
    }
#endif
