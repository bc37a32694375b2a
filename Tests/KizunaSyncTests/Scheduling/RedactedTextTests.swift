import KizunaSync
import Testing

@Suite struct RedactedTextTests {
    @Test(arguments: [
        ("the disk is on fire", "the disk is on fire"),
        ("the token expired at noon", "the token expired at noon"),
        ("Bearer abc.def", "Bearer …"),
        ("Authorization: Bearer abc, gone", "Authorization: Bearer …, gone"),
        ("Authorization: Basic dXNlcg== x", "Authorization: Basic … x"),
        ("{\"access_token\": \"abc\", \"n\": 1}", "{\"access_token\": \"…\", \"n\": 1}"),
        ("apikey=abc&x=1 then", "apikey=… then"),
        ("got eyJhbGciOi.eyJzdWIi.sig back", "got … back"),
        ("key sb_secret_abcdef used", "key sb_secret_… used"),
        ("GET https://a.supabase.co/rest/v1/t?id=eq.5 failed", "GET https://a.supabase.co/rest/v1/t?… failed"),
        ("https://me:pass@host/x", "https://…@host/x"),
        ("a = b: c", "a = b: c"),
    ])
    func secretsAreTakenOut(_ text: String, _ shown: String) {
        #expect(RedactedText.redacted(text) == shown)
    }

    @Test func longTextsAreCut() {
        #expect(RedactedText.redacted(String(repeating: "a", count: 5_000)).count == 501)
    }
}
