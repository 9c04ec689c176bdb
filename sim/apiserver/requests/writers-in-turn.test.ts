import { describe, expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import { post, times } from "../attack-requests.fixture.ts";
import { Struck } from "../struck.fixture.ts";
import { WritersInTurn } from "./writers-in-turn.ts";

function turns(): { readonly writers: WritersInTurn; readonly begun: string[]; readonly run: () => void } {
  const kernel = new Kernel({ seed: "writers" });
  const run = (): void => {
    while (kernel.nextEventMicros === kernel.nowMicros()) kernel.step();
  };
  return { writers: new WritersInTurn(kernel.process("server").clock), begun: [], run };
}

describe("writers of one object", () => {
  it("have their turns in the order in which they came, and those of another object none of it", () => {
    const { writers, begun, run } = turns();
    const all = ["a1", "b1", "a2", "a3"].map((name) => ({ name }));
    for (const by of all) writers.enter(by, by.name.slice(0, 1), () => begun.push(by.name));
    expect(begun).toEqual(["a1", "b1"]);
    writers.leave(all[0] as object);
    expect(begun).toHaveLength(2); // not within the event of another
    run();
    expect(begun).toEqual(["a1", "b1", "a2"]);
    writers.leave(all[0] as object); // who has left already
    writers.leave(all[2] as object);
    run();
    expect(begun).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("give their turns back when they are not wanted any more, at any time", () => {
    const { writers, begun, run } = turns();
    const cancels = ["first", "second", "third", "last"].map((name) =>
      writers.enter({ name }, "a", () => begun.push(name)),
    );
    cancels[1]?.(); // while it waits
    cancels[0]?.(); // in its turn
    cancels[2]?.(); // when it is to be next
    run();
    expect(begun).toEqual(["first", "last"]);
  });

  it("leave nothing behind", () => {
    const { writers, begun } = turns();
    const one = {};
    writers.enter(one, "a", () => begun.push("one"));
    writers.leave(one);
    writers.enter({}, "a", () => begun.push("other"));
    expect([begun, writers.has(one, "a")]).toEqual([["one", "other"], false]);
  });
});

const configMaps = "/api/v1/namespaces/default/configmaps";

/** Events until so many patches of one large object are answered, all of them sent at once, each by a manager of its own. */
function eventsOf(count: number, type: string): number {
  const data = Object.fromEntries(times(5_000, (at) => [`k${at}`, "v"]));
  const struck = new Struck({ prepare: () => [post(configMaps, { metadata: { name: "large" }, data })] }, 1);
  const { kernel, process, server } = struck.bed;
  const statuses: number[] = [];
  for (let at = 0; at < count; at++) {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "large" }, data: { [`own${at}`]: "v" } };
    const request = {
      method: "PATCH",
      path: `${configMaps}/large`,
      query: `fieldManager=m${at}`,
      headers: { authorization: "Bearer admin", "content-type": `application/${type}` },
      body: new TextEncoder().encode(JSON.stringify(body)),
    };
    const responder = {
      respond: (status: number) => void statuses.push(status),
      open() {},
      frame: () => 0,
      close() {},
    };
    kernel.enter(process, () => server.start(request, responder));
  }
  let events = 0;
  for (const now = kernel.nowMicros(); kernel.nextEventMicros === now; events++) kernel.step();
  expect(statuses).toEqual(times(count, () => 200));
  expect(struck.failures).toEqual([]);
  return events;
}

it.each(["merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"])(
  "twelve patches of a large object at once take twelve times what one takes (%s)",
  (type) => {
    // One after another would have done most of it again for each that came before.
    expect(eventsOf(12, type)).toBeLessThan(15 * eventsOf(1, type));
  },
);
