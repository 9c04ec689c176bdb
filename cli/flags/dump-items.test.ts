import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DumpItem, dumpItems, DumpScanner } from "./dump-items.ts";

/** In chunks that end at these places. */
function scanned(text: string, cuts: readonly number[] = []): readonly DumpItem[] {
  const bytes = Buffer.from(text);
  const scanner = new DumpScanner("dump.json");
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  const items: DumpItem[] = [];
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    // A chunk is used again once it was read, as by the reader of files.
    const chunk = Buffer.from(bytes.subarray(from, end));
    for (const item of scanner.push(chunk)) items.push(item);
    chunk.fill(0x7b);
    from = end;
  }
  scanner.end();
  return items;
}

const refusal = (text: string): string => {
  try {
    scanned(text);
  } catch (error) {
    return (error as Error).message;
  }
  return "taken";
};

describe("the objects of a dump", () => {
  it("are those of lists and those by themselves, wherever chunks end", () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const object = fc.dictionary(fc.string(), value).map((fields) => ({ ...fields, items: undefined }));
    const list = fc.record({ before: value, items: fc.array(object, { maxLength: 4 }), after: value });
    const document = fc.oneof(list, object);
    fc.assert(
      fc.property(
        fc.array(document, { maxLength: 4 }),
        fc.array(fc.nat(5000), { maxLength: 8 }),
        fc.constantFrom(0, 4),
        (documents, cuts, indent) => {
          const text = documents.map((each) => JSON.stringify(each, undefined, indent)).join("\n");
          const wanted = documents.flatMap((each): readonly unknown[] => ("before" in each ? each.items : [each]));
          expect(scanned(text, cuts).map((item) => item.object)).toEqual(JSON.parse(JSON.stringify(wanted)));
        },
      ),
      { seed: 11, numRuns: 200 },
    );
  });

  it("have the kind of their list, and the line where they begin", () => {
    const text =
      '{"kind": "PodList",\n"metadata": {"items": {"x": [{}]}},\n"items": [{"a": "}]{"},\n {"b": 1}],\n"z": {"y": {"kind": "x"}}}\n{"kind": "Node"}';
    expect(scanned(text)).toEqual([
      { object: { a: "}]{" }, listKind: "PodList", line: 3 },
      { object: { b: 1 }, listKind: "PodList", line: 4 },
      { object: { kind: "Node" }, listKind: "", line: 6 },
    ]);
  });

  it("come through a pipe whose writer is slow", () => {
    const turns = ['{"a":', new Error("EAGAIN"), "1}", new Error("EAGAIN"), ""];
    const read = (_descriptor: number, into: Buffer): number => {
      const turn = turns.shift() ?? "";
      if (turn instanceof Error) throw Object.assign(turn, { code: turn.message });
      return into.write(turn);
    };
    expect([...dumpItems("-", read)].map(({ object }) => object)).toEqual([{ a: 1 }]);
  });

  it("are refused with their line when they are none", () => {
    expect(refusal("apiVersion: v1\nkind: List\n")).toContain("dump.json:1: expected JSON as `kubectl get");
    expect(refusal("[{}]")).toContain("expected JSON");
    expect(refusal("\0")).toContain("expected JSON");
    expect(refusal('{"items": [{"a": 1},\n{"b": 2}')).toContain("dump.json:2: it ends in the middle");
    expect(refusal('{"items": [\n[{}]]}')).toContain("dump.json:2: an item of a list is no object");
    for (const item of ['"a"', "7", "null", "true", "-1.5e3"])
      expect(refusal(`{"items": [{},\n${item}, {}]}`)).toContain("dump.json:2: an item of a list is no object: give");
    expect(refusal('{"items": [{}, {"a": [1, "b"]} ], "metadata": {"a": ["b", 1]}}')).toBe("taken");
    expect(refusal('{"items": [\n{"a" 1}]}')).toContain("dump.json:2: not JSON");
    expect(refusal(`${'{"a":'.repeat(300)}1${"}".repeat(300)}`)).toContain("nested more than 200 deep");
    expect(refusal("}")).toContain("expected JSON");
    expect(refusal('{"a": 1]')).not.toBe("taken");
  });
});
