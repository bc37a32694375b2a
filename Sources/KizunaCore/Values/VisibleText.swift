extension String {
    /// Whether it holds nothing but visible ASCII: no space, no line end, nothing that could end the line of HTTP it is sent in.
    package var isVisibleASCII: Bool { utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
}
