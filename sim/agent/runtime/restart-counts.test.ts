import { expect, it } from "vitest";
import type { CriRuntime } from "../../cri/cri-port.ts";
import { defaultAgentOptions } from "../agent-options.ts";
import { AgentWorld } from "../agent-world.fixture.ts";

it("a container that the runtime has lost goes on where its logs end", () => {
  const asked: string[] = [];
  const around = (inner: CriRuntime): CriRuntime => ({
    start(request, done, fail) {
      if (request.method !== "ListPath") return inner.start(request, done, fail);
      const { path } = request.message as { readonly path: string };
      asked.push(path);
      const names = ["0.log", "11.log", "3.log.20250101-000000.gz", "notes"];
      const entries = names.map((name) => ({ name, directory: false, size: 1, modifiedAt: 0 }));
      done({ ok: true, message: { entries } });
      return () => {};
    },
    events: (reader, sink) => inner.events(reader, sink),
  });
  const metadata = { name: "a" };
  const spec = { containers: [{ name: "c", image: "local/serve:1" }] };
  const manifests = new Map([["a.json", JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec })]]);
  const sources = { ...defaultAgentOptions("n1").sources, manifestPath: "/m", fileCheckMicros: 1_000_000 };
  const world = new AgentWorld({ sources }, undefined, { manifests, around });
  world.runtime.images.set("local/serve:1", {});
  world.create("new", spec);
  world.run(20);
  expect(asked).toEqual([expect.stringMatching(/^\/var\/log\/pods\/default_a-n1_[0-9a-f]+\/c$/)]);
  expect(world.status("a-n1")).toMatchObject({ containerStatuses: [{ restartCount: 12 }] });
  expect(world.status("new")).toMatchObject({ containerStatuses: [{ restartCount: 0 }] });
});
