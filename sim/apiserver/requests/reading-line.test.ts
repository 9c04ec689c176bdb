import { describe, expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import { post, times } from "../attack-requests.fixture.ts";
import { Struck } from "../struck.fixture.ts";
import { ReadingLine } from "./reading-line.ts";

const mebibyte = 1024 * 1024;

/** A line, and what has begun to be read in it. */
function lineOf(): { readonly line: ReadingLine; readonly begun: string[]; readonly run: () => void } {
  const kernel = new Kernel({ seed: "line" });
  const process = kernel.process("server");
  const line = new ReadingLine(process.clock);
  const run = (): void => {
    while (kernel.nextEventMicros === kernel.nowMicros()) kernel.step();
  };
  return { line, begun: [], run };
}

describe("bodies in line", () => {
  it("are read side by side up to four mebibytes, and then in the order in which they came", () => {
    const { line, begun, run } = lineOf();
    const bodies = times(6, (at) => ({ name: `b${at}`, bytes: 2 * mebibyte }));
    for (const body of bodies) line.enter(body, body.bytes, () => begun.push(body.name));
    expect(begun).toEqual(["b0", "b1"]);
    line.leave(bodies[1] as object);
    line.leave(bodies[1] as object);
    expect(begun).toHaveLength(2); // not within the reading of another
    run();
    expect(begun).toEqual(["b0", "b1", "b2"]);
    line.leave(bodies[0] as object);
    line.leave(bodies[2] as object);
    run();
    expect(begun).toEqual(["b0", "b1", "b2", "b3", "b4"]);
  });

  it("are read alone where they are larger, and nobody passes them", () => {
    const { line, begun, run } = lineOf();
    const [first, large, small] = [{}, {}, {}];
    line.enter(first, 1, () => begun.push("first"));
    line.enter(large, 9 * mebibyte, () => begun.push("large"));
    line.enter(small, 1, () => begun.push("small"));
    expect(begun).toEqual(["first"]);
    line.leave(first);
    run();
    expect(begun).toEqual(["first", "large"]);
    line.leave(large);
    run();
    expect(begun).toEqual(["first", "large", "small"]);
  });

  it("give their place back when they are not wanted any more, at any time", () => {
    const { line, begun, run } = lineOf();
    const [first, second, third, last] = [{}, {}, {}, {}];
    const stopFirst = line.enter(first, 4 * mebibyte, () => begun.push("first"));
    const stopSecond = line.enter(second, mebibyte, () => begun.push("second"));
    const stopThird = line.enter(third, mebibyte, () => begun.push("third"));
    line.enter(last, 4 * mebibyte, () => begun.push("last"));
    stopSecond(); // while it waits
    stopFirst(); // while it is read
    stopThird(); // when it is to be read next
    run();
    expect(begun).toEqual(["first", "last"]);
  });
});

it("large bodies in YAML are not held half read all at once", () => {
  const body = `kind: ConfigMap\nmetadata:\n  name: x\n${times(90_000, (at) => `unknown${at}: "some text"\n`).join("")}`;
  const struck = new Struck({}, 1);
  const { kernel, process, server } = struck.bed;
  const answeredAt: number[] = [];
  let eventCount = 0;
  for (let at = 0; at < 6; at++) {
    const { path, headers, ...rest } = post("/api/v1/namespaces/default/configmaps", {});
    const request = {
      ...rest,
      method: "POST",
      path,
      query: "fieldValidation=Strict",
      headers: { ...headers, authorization: "Bearer admin", "content-type": "application/yaml" },
      body: new TextEncoder().encode(body),
    };
    const responder = { respond: () => void answeredAt.push(eventCount), open() {}, frame: () => 0, close() {} };
    kernel.enter(process, () => server.start(request, responder));
  }
  for (const now = kernel.nowMicros(); kernel.nextEventMicros === now; eventCount++) kernel.step();
  expect(struck.failures).toEqual([]);
  expect(answeredAt).toHaveLength(6);
  // Where all were read side by side, the first would be answered when nearly all is done.
  expect(answeredAt[0]).toBeLessThan(eventCount / 2);
});
