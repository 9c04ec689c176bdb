import { describe, expect, it } from "vitest";
import { container, end, ended, history, look, running } from "./hand-written.fixture.ts";
import { judgeProbeStops, judgeReadiness } from "./probes.ts";
import type { ProbeKind, ProbeProgram } from "./program.ts";

const probe = (more: Partial<ProbeProgram> = {}): ProbeProgram => ({
  periodSeconds: 4,
  initialDelaySeconds: 0,
  successThreshold: 1,
  failureThreshold: 3,
  goodFrom: 0,
  goodUntil: undefined,
  ...more,
});

const withProbes = (probes: Readonly<Partial<Record<ProbeKind, ProbeProgram>>>) => ({
  containers: [container("main", { probes })],
});

describe("readiness", () => {
  const seen = (
    field: "ready" | "started",
    times: Readonly<Record<number, boolean>>,
    probes: Parameters<typeof withProbes>[0],
  ) =>
    judgeReadiness(
      history(
        Object.entries(times).map(([at, is]) => look(Number(at), { main: running("a", 0, { [field]: is }) })),
        withProbes(probes),
      ),
    ).violation;
  const often = { readiness: probe({ successThreshold: 3, goodFrom: 6 }) };

  it("accepts what was found so often in a row, after the initial delay", () => {
    expect(seen("ready", { 13: false, 15: true, 40: true }, often)).toBeUndefined();
    expect(seen("ready", { 13: false, 15: true }, { readiness: probe({ initialDelaySeconds: 14 }) })).toBeUndefined();
    expect(
      seen("started", { 5: false, 12: true }, { startup: probe({ goodFrom: 8, failureThreshold: 9 }) }),
    ).toBeUndefined();
  });

  it("rejects ready too early, too late, and not at all", () => {
    expect(seen("ready", { 10: true }, often)).toBeDefined();
    expect(seen("ready", { 40: false }, often)).toBeDefined();
    expect(seen("ready", { 10: true }, { readiness: probe({ initialDelaySeconds: 14 }) })).toBeDefined();
    expect(seen("started", { 5: true }, { startup: probe({ goodFrom: 8, failureThreshold: 9 }) })).toBeDefined();
  });

  it("accepts that it ends after as many failures, and rejects it sooner or never", () => {
    const readiness = { readiness: probe({ goodUntil: 20 }) };
    expect(seen("ready", { 27: true, 30: false }, readiness)).toBeUndefined();
    expect(seen("ready", { 25: false }, readiness)).toBeDefined();
    expect(seen("ready", { 60: true }, readiness)).toBeDefined();
  });
});

describe("stops for probes", () => {
  const liveness = { liveness: probe({ goodUntil: 9, graceSeconds: 3 }) };
  const stopped = (at: number, probes: Parameters<typeof withProbes>[0]) =>
    judgeProbeStops(
      history(
        [look(50, { main: ended(end("a", 0, at, 137)) }), look(51, { main: ended(end("a", 0, at, 137)) })],
        withProbes(probes),
      ),
    ).violation;

  it("accepts one after as many failures, with the grace period of the probe", () => {
    expect(stopped(21, liveness)).toBeUndefined();
    expect(stopped(24, liveness)).toBeUndefined();
  });

  it("rejects one after fewer, one that comes late, and one without cause", () => {
    expect(stopped(14, liveness)).toBeDefined();
    expect(stopped(45, liveness)).toBeDefined();
    expect(stopped(20, { liveness: probe() })).toBeDefined();
  });

  it("rejects that nobody is stopped", () => {
    const goesOn = (probes: Parameters<typeof withProbes>[0]) =>
      judgeProbeStops(history([look(60, { main: running("a", 0) })], withProbes(probes))).violation;
    expect(goesOn(liveness)?.actual).toContain("it runs");
    expect(goesOn({ liveness: probe() })).toBeUndefined();
  });

  it("accepts that liveness waits for the startup probe, which has failures of its own", () => {
    const startup = probe({ goodFrom: 15, failureThreshold: 12 });
    expect(stopped(20, { startup, liveness: probe({ goodFrom: 15 }) })).toBeDefined();
    const slow = { startup: probe({ goodFrom: 60, failureThreshold: 3 }), liveness: probe() };
    expect(stopped(20, slow)).toBeUndefined();
    expect(stopped(5, slow)).toBeDefined();
  });
});
