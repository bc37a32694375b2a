/// Makes UUIDs of version 7 (RFC 9562): 48 bits of time, then randomness.
package enum UUIDv7 {
    /// The UUID's text in lower case.
    package static func text(milliseconds: UInt64, random: (UInt64, UInt64)) -> String {
        let high = milliseconds << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            let word = index < 16 ? high : low
            text.append(digits[Int(word >> UInt64(60 - index % 16 * 4) & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
