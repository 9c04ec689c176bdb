import { expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import type { Process } from "../../kernel/types.ts";
import { AgentApi } from "./agent-api.ts";

it("nothing is left of a watch that could not begin", () => {
  const kernel = new Kernel({ seed: "watches" });
  const inner = kernel.process("agent");
  let cleanups = 0;
  const onCrash: Process["onCrash"] = (cleanup) => {
    const forget = inner.onCrash(cleanup);
    cleanups++;
    return () => {
      cleanups--;
      forget();
    };
  };
  const process = Object.create(inner, { onCrash: { value: onCrash } }) as Process;
  const server = {
    start: () => {
      throw new Error("planned");
    },
  };
  const api = new AgentApi({ process, server, headers: {} });
  const hearer = { event: () => {}, refused: () => {}, ended: () => {} };
  expect(() => kernel.enter(inner, () => api.watch("/api/v1/pods", "watch=1", hearer))).toThrow("planned");
  expect(cleanups).toBe(0);
});
