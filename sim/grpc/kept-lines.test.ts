import fc from "fast-check";
import { expect, it } from "vitest";
import type { FileRow } from "../runtime/file-dump.ts";
import { type KeptJournal, keptOf, linesOf } from "./kept-lines.ts";

const piece = fc.oneof(
  fc.nat(),
  fc.string({ maxLength: 20 }),
  fc.nat({ max: 200_000 }).map((length) => "a\0é".repeat(length / 3)),
);
const rows: fc.Arbitrary<readonly FileRow[]> = fc.array(
  fc.oneof(
    fc.record({ path: fc.string(), modified: fc.nat() }),
    fc.record({ path: fc.string(), modified: fc.nat(), number: fc.nat(), pieces: fc.array(piece, { maxLength: 8 }) }),
    fc.record({
      path: fc.string(),
      modified: fc.nat(),
      pieces: fc.constantFrom(Array.from({ length: 2500 }, (_, at) => at)),
    }),
  ),
  { maxLength: 250 },
);
const files = fc.record({ dump: fc.record({ path: fc.constant("/"), rows }), made: fc.nat() });
const container = fc.record(
  { id: fc.string(), layer: files, began: fc.array(fc.record({ path: fc.string(), rows }), { maxLength: 3 }) },
  { requiredKeys: ["id"] },
);
const kept = fc.record({
  next: fc.nat(),
  sandboxes: fc.array(fc.record({ id: fc.string() }), { maxLength: 5 }),
  containers: fc.array(container, { maxLength: 4 }),
  host: files,
}) as unknown as fc.Arbitrary<KeptJournal>;

it("gives back what was made lines, none of which is long", () => {
  fc.assert(
    fc.property(kept, (state) => {
      const lines = [...linesOf(state)].map((line) => JSON.stringify(line));
      const paths = 250; // a row without content has a name, too
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan((1 << 16) * 6 + 100 * paths);
      expect(keptOf(lines.map((line) => JSON.parse(line) as unknown))).toEqual(state);
    }),
    { seed: 5, numRuns: 60 },
  );
});

it("reads files and containers that all stand in the first line, as they once did", () => {
  const host = { dump: { path: "/", rows: [] }, made: 1 };
  const first = { next: 1, sandboxes: [{ id: "s" }], containers: [{ id: "c", layer: host }], host };
  const row = { path: "/a", modified: 1, pieces: ["a"] };
  const read = keptOf([first, [row], [row]]);
  expect(read).toEqual({ ...first, host: { made: 1, dump: { path: "/", rows: [row, row] } } });
  expect(keptOf([])).toBeUndefined();
  expect(() => keptOf([first, { began: "/v" }])).toThrow(SyntaxError);
  expect(() => keptOf([first, { other: 1 }])).toThrow(SyntaxError);
});
