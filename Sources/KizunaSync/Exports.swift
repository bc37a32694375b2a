// An app imports `KizunaSync` alone: the values and the request language it uses come along.
@_exported public import KizunaCore
@_exported public import KizunaPostgREST
