import { expect, it } from "vitest";
import { Cluster } from "../cluster/cluster.ts";
import { Kernel } from "../kernel/kernel.ts";
import { prngStream } from "../kernel/prng.ts";
import { RareBugs } from "./rare-bugs.ts";
import type { ServerBugName } from "./server-bugs.ts";

/** The codes of a thousand lists that ask for `query`. */
function codes(bugs: readonly ServerBugName[], rarity: number | undefined, seed: string, query = ""): number[] {
  const kernel = new Kernel({ seed });
  const client = kernel.process("client");
  const { made } = new Cluster({ kernel }).addServer("server", () => ({
    bugs,
    bugRarity: rarity,
    anonymousAuth: true,
  }));
  const came: number[] = [];
  const responder = {
    respond: (status: number) => void came.push(status),
    open: () => undefined,
    frame: () => 0,
    close: () => undefined,
  };
  const request = { method: "GET", path: "/api/v1/namespaces/default/configmaps", query, headers: {} };
  for (let index = 0; index < 1000; index++) {
    kernel.enter(client, () => made.start(request, responder));
    kernel.run(kernel.nowMicros() + 1);
  }
  return came;
}

const bug: ServerBugName = "bad-query-param-ignored"; // 400 without it
const shown = (all: readonly number[]): number => all.filter((code) => code === 200).length;

it("a rare bug shows in about one request of so many, the same ones by the seed", () => {
  const rare = codes([bug], 20, "1", "limit=abc");
  expect(new Set(rare)).toEqual(new Set([200, 400]));
  expect(shown(rare)).toBeGreaterThan(25);
  expect(shown(rare)).toBeLessThan(80);
  expect(codes([bug], 20, "1", "limit=abc")).toEqual(rare);
  expect(codes([bug], 20, "2", "limit=abc")).not.toEqual(rare);
  expect(shown(codes([bug], undefined, "1", "limit=abc"))).toBe(1000);
  expect(shown(codes([], 20, "1", "limit=abc"))).toBe(0);
});

it("within a request it is on or off as a whole, whatever comes in between; other bugs are drawn for themselves", () => {
  const planted = { one: true, two: true, none: false };
  const rare = new RareBugs(planted, 2, prngStream("1"));
  const { switches } = rare;
  const seen = new Set<string>();
  for (let index = 0; index < 200; index++) {
    const drawn = rare.draw();
    const read = (): string => `${switches.one} ${switches.two} ${switches.none}`;
    rare.during(drawn, () => {
      const first = read();
      rare.during(rare.draw(), read);
      expect([read(), read()]).toEqual([first, first]);
      seen.add(first);
    });
    expect(rare.during(drawn, read)).toBe(`${drawn.has("one")} ${drawn.has("two")} false`);
  }
  expect([...seen].sort()).toEqual(["false false false", "false true false", "true false false", "true true false"]);
});

it("outside of requests every read is drawn", () => {
  const { switches } = new RareBugs({ one: true }, 4, prngStream("1"));
  const on = Array.from({ length: 1000 }, () => switches.one).filter(Boolean).length;
  expect(on).toBeGreaterThan(180);
  expect(on).toBeLessThan(330);
});
