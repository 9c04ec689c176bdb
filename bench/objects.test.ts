import { expect, it } from "vitest";
import { benches } from "./objects.ts";

it.each(benches.map((bench) => [bench.name, bench] as const))(
  "%s measures what a server would take",
  async (_name, bench) => {
    expect(await bench.run()).toBeGreaterThan(0);
  },
);
