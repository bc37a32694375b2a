internal import KizunaCore

/// `/rest/v1`: tables and views as PostgREST serves them.
final class RestPart: LocalRouter.Part {
    private let settings: LocalSettings
    private let signer: TokenSigner
    private let pool: ConnectionPool
    private let shapes: SchemaCache

    init(settings: LocalSettings, signer: TokenSigner, pool: ConnectionPool, shapes: SchemaCache) {
        self.settings = settings
        self.signer = signer
        self.pool = pool
        self.shapes = shapes
    }

    func answer(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void) {
        let isHead = request.method == "HEAD"
        let identity: RequestIdentity
        let call: RestCall
        do throws(RestFailure) {
            identity = try RequestIdentity.of(request, signer, now: WallClock.seconds)
            call = try RestCall.parse(request, settings)
        } catch {
            return done(error.answer(isHead: isHead))
        }
        pool.submit { [settings, shapes] connection in
            let answer: HTTPAnswer
            do {
                let session = RestSession(
                    call: call, request: request, identity: identity, settings: settings,
                    connection: try connection.get())
                answer = try session.answer(shapes)
            } catch let failure as RestFailure {
                answer = failure.answer(isHead: isHead)
            } catch let failure as PostgresFailure {
                answer = RestFailure(failure, isAnonymous: identity.isAnonymous).answer(isHead: isHead)
            } catch {
                answer = RestFailure(500, "KZ500", "\(error)").answer(isHead: isHead)
            }
            done(answer)
        }
    }
}
