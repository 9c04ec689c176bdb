/** What documents ask of clients, each by a client that keeps it and one that breaks it. */
import { describe, expect, it } from "vitest";
import { hunt, type HuntFailure, type HuntOptions, type Machine } from "../testing.ts";
import { createSome, follow, type Habits, listExactly, listProtobuf } from "./clients.fixture.ts";

const failureOf = (options: HuntOptions): Promise<HuntFailure> =>
  hunt(options).then(
    () => expect.fail("nothing was found"),
    (error: unknown) => error as HuntFailure,
  );

const hunted = (habits: Habits, rest: Partial<HuntOptions> = {}): HuntOptions => ({
  program: (machine: Machine) => follow(machine, habits),
  workload: createSome,
  quiet: "30s",
  seeds: 12,
  ...rest,
});

describe("a client that", () => {
  it("counts on from a version is caught without any fault", async () => {
    const { finding, seed } = await failureOf(hunted({ from: (version) => String(Number(version) + 1) }));
    expect(finding.expected).toContain("versions are opaque");
    expect(finding.actual).toContain("nobody has given it version");
    expect(seed).toBe(0);
  });

  it("keeps versions as numbers is caught once they are longer than a number", async () => {
    const options = hunted({ from: (version) => String(Number(version)) }, { faults: ["opaque-versions"], seeds: 1 });
    const { finding, faults } = await failureOf(options);
    expect(finding.expected).toContain("versions are opaque");
    expect(faults).toEqual(["resourceVersions are long numbers whose order means nothing"]);
  });

  it("goes on from the version that was refused with 410 is caught", async () => {
    const { finding } = await failureOf(hunted({ relists: false }, { faults: ["expired"] }));
    expect(finding.expected).toContain("410 means list anew");
    expect(finding.actual).toMatch(/WATCH .* refused with 410 \d+ times, without a list since/);
  });

  it("takes protobuf with a prefix that nobody knows is caught, and one that looks is not", async () => {
    const rest = { faults: ["unknown-protobuf"] as const };
    const { finding } = await failureOf(hunted({ list: listProtobuf(false) }, rest));
    expect(finding.expected).toContain("an unknown prefix is rejected");
    expect((await hunt(hunted({ list: listProtobuf(true) }, rest))).byPattern["unknown-protobuf"]).toBeGreaterThan(0);
  });

  it("takes an Exact list at another version is caught, and one that verifies is not", async () => {
    const rest = { faults: ["exact-ignored"] as const };
    const { finding } = await failureOf(hunted({ list: listExactly(false) }, rest));
    expect(finding.expected).toContain("an Exact list is verified");
    expect((await hunt(hunted({ list: listExactly(true) }, rest))).byPattern["exact-ignored"]).toBeGreaterThan(0);
  });

  it("keeps all of this is not accused of anything", async () => {
    const report = await hunt(hunted({}, { seeds: 40 }));
    expect(report.played).toBe(40);
  });
});
