import { describe, expect, it } from "vitest";
import { parseCallFault } from "./call-fault-text.ts";
import { applyControl } from "./control.ts";
import { RuntimeBench } from "./runtime.fixture.ts";

describe("what is to go wrong with calls", () => {
  it.each([
    ["StopContainer hangs", { method: "StopContainer", hangs: true }],
    ["* takes 1.5s", { delayMicros: 1_500_000 }],
    ["PullImage fails no route to host", { method: "PullImage", error: { text: "no route to host" } }],
    [
      "StartContainer of default/web fails no",
      { method: "StartContainer", about: "default/web", error: { text: "no" } },
    ],
  ])("%s", (text, fault) => {
    expect(parseCallFault(text)).toEqual(fault);
  });

  it.each([
    ["", "is nothing that a call can do"],
    ["PullImage", "is nothing that a call can do"],
    ["PullImage fails", "is nothing that a call can do"],
    ["PullImage hangs 5s", "is nothing that a call can do"],
    ["PullImage takes long", "is no duration"],
    ["PullImage takes 0s", "is no duration"],
    ["pullimage hangs", "has no call pullimage"],
    ["GetContainerEvents hangs", "has no call GetContainerEvents"],
  ])("%s is refused", (text, why) => {
    expect(() => parseCallFault(text)).toThrow(why);
  });

  it("goes wrong for whom it is said, until it is taken back", () => {
    const bench = new RuntimeBench();
    const [one, other] = [bench.sandbox("one"), bench.sandbox("other")];
    const [first, second] = [bench.create(one, ["sleep", "9"]), bench.create(other, ["sleep", "9"])];
    applyControl(
      bench.runtime,
      '{"calls":["StartContainer of default/one fails no room","ListImages hangs","Version takes 3s"]}',
    );
    expect(bench.call("StartContainer", { containerId: first })).toEqual({ ok: false, code: 2, text: "no room" });
    expect(bench.call("StartContainer", { containerId: second }).ok).toBe(true);
    const hung = bench.begin("ListImages", {});
    bench.pass(60);
    expect(hung.answer).toBeUndefined();
    const before = bench.seconds();
    bench.ask("Version", {});
    expect(bench.seconds() - before).toBeGreaterThanOrEqual(3);
    expect(() => applyControl(bench.runtime, '{"calls":["ListImages rests"]}')).toThrow("ListImages rests");
    expect(bench.runtime.filesVersion()).toBeUndefined();
    applyControl(bench.runtime, '{"calls":null}');
    expect(bench.call("StartContainer", { containerId: first }).ok).toBe(true);
    expect(bench.ask("ListImages", {}).images).toHaveLength(1);
    expect(bench.runtime.filesVersion()).toBeDefined();
  });
});
