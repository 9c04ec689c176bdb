import { expect, it } from "vitest";
import { rows } from "./objects.ts";

// The first thousand have all that the others have, but for the number in their names.
it.each(rows.map((row) => [row.name, row] as const))("%s measures what a server would take", (_name, row) => {
  expect(row.run(1_000)).toBeGreaterThan(0);
});
