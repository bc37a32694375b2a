/// Dates and times in ISO form, in whole microseconds.
enum TimeText {
    static let dayLength: Int64 = 86_400_000_000
    /// 2000-01-01, the epoch of PostgreSQL: from an earlier one, its last timestamps would overflow.
    private static let epoch: Int64 = 10_957
    /// 4714-11-24 BC, the first day of PostgreSQL.
    private static let firstDay: Int64 = -2_440_588
    /// The valid timestamps, from that day up to the year 294277.
    private static let moments = (firstDay - epoch) * dayLength..<9_223_371_331_200_000_000

    /// The treatment of the offset in a timestamp.
    enum Zone {
        /// `timestamp`: an offset is ignored.
        case none
        /// `timestamptz`: without an offset the session's time zone applies, which may not be known to be UTC.
        case session(isUTC: Bool)
    }

    /// Returns the number of the day. `infinity` is after every day, `-infinity` before. A time and its offset after
    /// the date are checked and ignored.
    static func date(_ text: String) -> Reading<Int64> {
        if let bound = infinity(text) { return .value(bound) }
        var cursor = Digits(text)
        guard let parts = cursor.date() else { return .undecided }
        switch clock(&cursor) {
        case .undecided: return .undecided
        case .rejected: return .rejected
        case .value: return day(parts, lastYear: 5_874_897).map { .value($0) } ?? .rejected
        }
    }

    /// Whether a text is a date without a time.
    static func isDay(_ text: String) -> Bool {
        var cursor = Digits(text)
        return cursor.date().flatMap { day($0, lastYear: 5_874_897) } != nil && cursor.isAtEnd
    }

    /// Returns microseconds since 2000, in UTC or in the local time of the column.
    static func timestamp(_ text: String, zone: Zone) -> Reading<Int64> {
        if let bound = infinity(text) { return .value(bound) }
        var cursor = Digits(text)
        guard let parts = cursor.date() else { return .undecided }
        let moment: Int64
        var offset: Int64?
        switch clock(&cursor) {
        case .undecided: return .undecided
        case .rejected: return .rejected
        case .value(let read): (moment, offset) = read
        }
        guard let day = day(parts, lastYear: 294_276) else { return .rejected }
        switch zone {
        case .none: offset = 0
        case .session(let isUTC):
            if offset == nil, !isUTC { return .undecided }
        }
        let number = (day - epoch) * dayLength + moment - (offset ?? 0) * 1_000_000
        return moments.contains(number) ? .value(number) : .rejected
    }

    /// Returns microseconds since midnight; `24:00:00` is the end of the day.
    static func time(_ text: String) -> Reading<Int64> {
        var cursor = Digits(text)
        guard let clock = cursor.clock(), cursor.isAtEnd, !cursor.isBeforeChrist else { return .undecided }
        return microseconds(clock).map { .value($0) } ?? .rejected
    }

    /// Reads the rest after a date: nothing, or a time with or without an offset.
    private static func clock(_ cursor: inout Digits) -> Reading<(moment: Int64, offset: Int64?)> {
        guard !cursor.isAtEnd else { return .value((0, nil)) }
        guard cursor.take(UInt8(ascii: "T")) || cursor.take(UInt8(ascii: "t")) || cursor.take(UInt8(ascii: " ")),
            let clock = cursor.clock()
        else { return .undecided }
        guard let moment = microseconds(clock) else { return .rejected }
        guard !cursor.isAtEnd else { return .value((moment, nil)) }
        guard let offset = cursor.offset(), cursor.isAtEnd else { return .undecided }
        return .value((moment, offset))
    }

    private static func infinity(_ text: String) -> Int64? {
        switch text.lowercased() {
        case "infinity": Int64.max
        case "-infinity": Int64.min
        default: nil
        }
    }

    private static func day(_ parts: Digits.DateParts, lastYear: Int64) -> Int64? {
        guard parts.year > 0, parts.year <= lastYear else { return nil }
        // There is no year 0: 1 BC is followed by 1 AD.
        let day = CivilDay.day(
            year: parts.isBeforeChrist ? 1 - parts.year : parts.year, month: parts.month, day: parts.day)
        return day.flatMap { $0 >= firstDay ? $0 : nil }
    }

    /// PostgreSQL reads the 60th second and `24:00:00` as the following moment.
    private static func microseconds(_ clock: Digits.Clock) -> Int64? {
        guard clock.hour <= 24, clock.minute < 60, clock.second <= 60 else { return nil }
        let total = Int64(clock.hour * 3600 + clock.minute * 60 + clock.second) * 1_000_000 + clock.fraction
        return clock.hour == 24 && total != dayLength ? nil : total
    }

    /// Reads digits of fixed widths.
    struct Digits {
        struct DateParts {
            let year: Int64
            let month: Int
            let day: Int
            let isBeforeChrist: Bool
        }

        struct Clock {
            let hour: Int
            let minute: Int
            let second: Int
            /// Microseconds; PostgreSQL rounds a longer fraction, to even at the half.
            let fraction: Int64
        }

        private var bytes: ArraySlice<UInt8>
        let isBeforeChrist: Bool

        /// PostgreSQL ignores blanks around the text.
        init(_ text: String) {
            func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
            bytes = Array(text.utf8).drop(while: isBlank)
            while bytes.last.map(isBlank) == true { bytes.removeLast() }
            // The server writes ` BC` at the end, after time and offset.
            isBeforeChrist = bytes.suffix(3).elementsEqual(" BC".utf8)
            if isBeforeChrist { bytes.removeLast(3) }
        }

        var isAtEnd: Bool { bytes.isEmpty }

        mutating func take(_ byte: UInt8) -> Bool {
            guard bytes.first == byte else { return false }
            bytes.removeFirst()
            return true
        }

        mutating func number(_ widths: ClosedRange<Int>) -> Int64? {
            let digits = bytes.prefix(while: DecimalText.isDigit)
            guard widths.contains(digits.count) else { return nil }
            bytes = bytes.dropFirst(digits.count)
            return Int64(String(decoding: digits, as: UTF8.self))
        }

        mutating func date() -> DateParts? {
            guard let year = number(4...7), take(UInt8(ascii: "-")), let month = number(1...2),
                take(UInt8(ascii: "-")), let day = number(1...2)
            else { return nil }
            return DateParts(year: year, month: Int(month), day: Int(day), isBeforeChrist: isBeforeChrist)
        }

        mutating func clock() -> Clock? {
            guard let hour = number(2...2), take(UInt8(ascii: ":")), let minute = number(2...2) else { return nil }
            var second: Int64 = 0
            var fraction: Int64 = 0
            if take(UInt8(ascii: ":")) {
                guard let seconds = number(2...2) else { return nil }
                second = seconds
                if take(UInt8(ascii: ".")) {
                    let digits = bytes.prefix(while: DecimalText.isDigit)
                    guard !digits.isEmpty, digits.count <= 30,
                        let part = Double("0." + String(decoding: digits, as: UTF8.self))
                    else { return nil }
                    bytes = bytes.dropFirst(digits.count)
                    fraction = Int64((part * 1_000_000).rounded(.toNearestOrEven))
                }
            }
            return Clock(hour: Int(hour), minute: Int(minute), second: Int(second), fraction: fraction)
        }

        /// `Z`, `+02`, `+02:00`, `+0200`, `+00:53:28` in seconds east of UTC.
        mutating func offset() -> Int64? {
            if take(UInt8(ascii: "Z")) || take(UInt8(ascii: "z")) { return 0 }
            let isWest = bytes.first == UInt8(ascii: "-")
            guard take(UInt8(ascii: "+")) || take(UInt8(ascii: "-")) else { return nil }
            let digits = bytes.prefix(while: DecimalText.isDigit)
            var seconds: Int64
            if digits.count == 4, let number = number(4...4) {
                guard number % 100 < 60 else { return nil }
                seconds = (number / 100) * 3600 + (number % 100) * 60
            } else {
                guard let hours = number(2...2) else { return nil }
                seconds = hours * 3600
                for unit in [Int64(60), 1] where take(UInt8(ascii: ":")) {
                    guard let part = number(2...2), part < 60 else { return nil }
                    seconds += part * unit
                }
            }
            guard seconds < 16 * 3600 else { return nil }
            return isWest ? -seconds : seconds
        }
    }
}

/// The result of reading a text as a value of a type.
enum Reading<Value: Sendable>: Sendable {
    case value(Value)
    /// The server rejects the text with certainty.
    case rejected
    /// The server may accept the text; it is not read here.
    case undecided

    func map<Other>(_ transform: (Value) -> Other) -> Reading<Other> {
        switch self {
        case .value(let value): .value(transform(value))
        case .rejected: .rejected
        case .undecided: .undecided
        }
    }
}
