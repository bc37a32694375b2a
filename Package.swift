// swift-tools-version: 6.2
import PackageDescription

let houseStyle: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "KizunaSync",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "KizunaSync", targets: ["KizunaSync"]),
        .library(name: "KizunaSyncTesting", targets: ["KizunaSyncTesting"]),
        .executable(name: "kizuna", targets: ["kizuna"]),
        .executable(name: "kizuna-bench", targets: ["kizuna-bench"]),
    ],
    traits: [
        .trait(
            name: "SupabaseSwift",
            description: "SupabaseSession and SupabaseRealtimeWakeup, for an app that signs in with supabase-swift.")
    ],
    dependencies: [
        // Not fetched while the trait is off.
        .package(url: "https://github.com/supabase/supabase-swift.git", from: "2.55.0")
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "CSoup", pkgConfig: "libsoup-3.0",
            providers: [.apt(["libsoup-3.0-dev"]), .brew(["libsoup"])]),

        .target(name: "KizunaCore", swiftSettings: houseStyle),
        .target(name: "KizunaPostgREST", dependencies: ["KizunaCore"], swiftSettings: houseStyle),
        .target(name: "KizunaStore", dependencies: ["KizunaCore", "CSQLite"], swiftSettings: houseStyle),
        .target(
            name: "KizunaTransport",
            dependencies: ["KizunaCore", .target(name: "CSoup", condition: .when(platforms: [.linux]))],
            swiftSettings: houseStyle),
        .target(
            name: "KizunaSync",
            dependencies: [
                "KizunaCore", "KizunaPostgREST", "KizunaStore", "KizunaTransport",
                .product(name: "Supabase", package: "supabase-swift", condition: .when(traits: ["SupabaseSwift"])),
            ],
            swiftSettings: houseStyle),
        .target(
            name: "KizunaSyncTesting",
            dependencies: ["KizunaCore", "KizunaPostgREST", "KizunaSync"],
            swiftSettings: houseStyle),
        .target(
            name: "KizunaLocal",
            dependencies: ["KizunaCore", "CPostgres", "CSoup"],
            swiftSettings: houseStyle),
        .executableTarget(
            name: "kizuna",
            dependencies: ["KizunaCore", "KizunaSync", "KizunaLocal"],
            swiftSettings: houseStyle),
        .executableTarget(
            name: "kizuna-bench",
            dependencies: [
                "KizunaCore", "KizunaPostgREST", "KizunaStore", "KizunaTransport", "KizunaSync", "KizunaSyncTesting",
                "KizunaLocal", "CSQLite",
            ],
            swiftSettings: houseStyle),

        .target(
            name: "TestSupport", dependencies: ["KizunaCore", "KizunaPostgREST", "KizunaSyncTesting"],
            path: "Tests/TestSupport", swiftSettings: houseStyle),
        .testTarget(name: "KizunaCoreTests", dependencies: ["KizunaCore"], swiftSettings: houseStyle),
        .testTarget(
            name: "KizunaPostgRESTTests",
            dependencies: ["KizunaCore", "KizunaPostgREST", "KizunaSyncTesting", "TestSupport"],
            swiftSettings: houseStyle),
        .testTarget(
            name: "KizunaStoreTests",
            dependencies: ["KizunaCore", "KizunaStore", "CSQLite", "KizunaSyncTesting", "TestSupport"],
            swiftSettings: houseStyle),
        .testTarget(
            name: "KizunaTransportTests",
            dependencies: ["KizunaCore", "KizunaTransport", "KizunaLocal", "path-probe"],
            swiftSettings: houseStyle),
        .testTarget(
            name: "KizunaSyncTests",
            dependencies: [
                "KizunaCore", "KizunaPostgREST", "KizunaStore", "KizunaTransport", "KizunaSync", "KizunaSyncTesting",
                "TestSupport",
            ],
            swiftSettings: houseStyle),
        .testTarget(
            name: "KizunaSyncTestingTests",
            dependencies: ["KizunaCore", "KizunaSync", "KizunaSyncTesting"],
            swiftSettings: houseStyle),
        .testTarget(
            name: "KizunaLocalTests", dependencies: ["KizunaCore", "KizunaLocal", "kizuna"],
            resources: [.copy("Fixtures")], swiftSettings: houseStyle),
        .executableTarget(
            name: "CrashWorker",
            dependencies: ["KizunaCore", "KizunaSync", "KizunaTransport"],
            path: "Tests/CrashWorker", swiftSettings: houseStyle),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "KizunaCore", "KizunaPostgREST", "KizunaStore", "KizunaTransport", "KizunaSync", "KizunaSyncTesting",
                "KizunaLocal", "CrashWorker", "TestSupport",
            ],
            swiftSettings: houseStyle),
        // Run in a network of its own by the path monitor's test.
        .executableTarget(
            name: "path-probe", dependencies: ["KizunaTransport"], path: "Tests/PathProbe", swiftSettings: houseStyle),
        .target(name: "Supabase", path: "Tests/Stubs/SupabaseSwift/Sources/Supabase", swiftSettings: houseStyle),
        // The samples of the behaviour pages as an app would hold them: Swift 6 mode, without our further strictness.
        .testTarget(
            name: "SeedSamplesTests", dependencies: ["KizunaCore", "KizunaSync", "KizunaSyncTesting", "Supabase"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .testTarget(name: "LayeringTests", swiftSettings: houseStyle),
    ]
)
