import KizunaTransport
import Testing

@Suite struct PlatformDigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("grüße\u{0}", "297b7cc39aaa77f9eceb44532bad2db2f1c2029faca795d848a2877cfefc55b9"),
    ])
    func theDigestIsSHA256OfTheBytes(_ text: String, _ digest: String) {
        #expect(PlatformDigest.sha256Hex(text) == digest)
    }
}
