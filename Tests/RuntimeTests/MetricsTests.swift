import Runtime
import Testing

@Suite struct MetricsTests {
    private let metrics = Metrics()

    @Test func `counters, gauges and histograms render in the text format`() {
        metrics.counter("b_total", "How often.").increment(by: 3)
        metrics.gauge("a_size", "How much.").set(1.5)
        let histogram = metrics.histogram("c_seconds", "How long.", buckets: [0.1, 1])
        histogram.observe(0.1)
        histogram.observe(0.5)
        histogram.observe(.seconds(2))
        #expect(
            metrics.render() == """
                # HELP a_size How much.
                # TYPE a_size gauge
                a_size 1.5
                # HELP b_total How often.
                # TYPE b_total counter
                b_total 3
                # HELP c_seconds How long.
                # TYPE c_seconds histogram
                c_seconds_bucket{le="0.1"} 1
                c_seconds_bucket{le="1"} 2
                c_seconds_bucket{le="+Inf"} 3
                c_seconds_sum 2.6
                c_seconds_count 3

                """)
    }

    @Test func `labels are escaped and sorted`() {
        let family = metrics.counters("x_total", "A \\ and a\nline.", labels: ["route", "status"])
        family.with("/b", "200").increment()
        family.with("/a\"\\\n", "500").increment()
        #expect(
            metrics.render() == #"""
                # HELP x_total A \\ and a\nline.
                # TYPE x_total counter
                x_total{route="/a\"\\\n",status="500"} 1
                x_total{route="/b",status="200"} 1

                """#)
    }

    @Test func `the same name gives the same metric`() {
        metrics.counter("x_total", "X.").increment()
        metrics.counter("x_total", "X.").increment()
        #expect(metrics.counter("x_total", "X.").value == 2)
        #expect(metrics.gauges("g", "G.", labels: ["a"]).with("1") === metrics.gauges("g", "G.", labels: ["a"]).with("1"))
    }

    @Test func `label values without end do not fill the memory`() {
        let family = metrics.counters("x_total", "X.", labels: ["value"])
        for number in 0..<1_500 { family.with("\(number)").increment() }
        let lines = metrics.render().split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == 1_001)
        #expect(lines.contains(#"x_total{value="other"} 500"#))
    }

    @Test func `nothing is lost when many threads count`() async throws {
        let counter = metrics.counter("x_total", "X.")
        let gauge = metrics.gauge("x", "X.")
        let histogram = metrics.histogram("x_seconds", "X.")
        let pool = BlockingPool(name: "counters", threads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await pool.run {
                        for _ in 0..<1_000 {
                            counter.increment()
                            gauge.increment()
                            histogram.observe(1)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        pool.close()
        #expect(counter.value == 4_000)
        #expect(gauge.value == 4_000)
        #expect(histogram.count == 4_000)
        #expect(histogram.sum == 4_000)
    }

    @Test func `samples of one metric stand together whoever collects them`() {
        metrics.collect {
            [Sample("lag", "Lag.", .gauge, labels: [("partition", "0")], value: 1), Sample("up", "Up.", .gauge, value: 1)]
        }
        metrics.collect { [Sample("lag", "Lag.", .gauge, labels: [("partition", "1")], value: .infinity)] }
        #expect(
            metrics.render() == """
                # HELP lag Lag.
                # TYPE lag gauge
                lag{partition="0"} 1
                lag{partition="1"} +Inf
                # HELP up Up.
                # TYPE up gauge
                up 1

                """)
    }

    @Test func `the process reports memory, processor time, descriptors and its start`() throws {
        ProcessMetrics.register(in: metrics)
        var values: [Substring: Double] = [:]
        for line in metrics.render().split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            values[parts[0]] = Double(parts[1])
        }
        #expect(try #require(values["process_resident_memory_bytes"]) > 1_000_000)
        #expect(try #require(values["process_cpu_seconds_total"]) > 0)
        #expect(try #require(values["process_open_fds"]) >= 3)
        #expect(try #require(values["process_max_fds"]) >= 3)
        let age = Double(WallClock.now()) / 1_000 - (try #require(values["process_start_time_seconds"]))
        #expect((-2.0..<86_400).contains(age))
    }
}
