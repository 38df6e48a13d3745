import { describe, expect, it } from 'vitest';
import { parsePrometheus, sumOf } from './prometheus.js';

const text = `# HELP firstcome_safety_net_trips_total trips
# TYPE firstcome_safety_net_trips_total counter
firstcome_safety_net_trips_total{strategy="spin"} 2
firstcome_safety_net_trips_total{strategy="queue",why="a \\"b\\""} 1
process_cpu_seconds_total 1.5e-1
`;

describe('/metrics', () => {
  it('is read with and without labels', () => {
    const samples = parsePrometheus(text);
    expect(samples).toHaveLength(3);
    expect(sumOf(samples, 'process_cpu_seconds_total')).toBe(0.15);
    expect(sumOf(samples, 'firstcome_safety_net_trips_total')).toBe(3);
    expect(sumOf(samples, 'firstcome_safety_net_trips_total', { strategy: 'spin' })).toBe(2);
  });

  it('has no sum of a metric that nobody counts: absent is not 0', () => {
    expect(sumOf(parsePrometheus(text), 'firstcome_batch_size_sum')).toBeUndefined();
    expect(parsePrometheus('<html>502</html>')).toEqual([]);
  });
});
