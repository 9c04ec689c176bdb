/** An exception in what a controller does at a later time ends nothing else: the controller does it again, and all others go on. */
import { afterEach, expect, it, vi } from "vitest";
import { Kernel, ProcessError } from "../../kernel/kernel.ts";
import { ApiTypes } from "../api-types.ts";
import { apps, ClusterBed, deploymentOf } from "../cluster-bed.fixture.ts";
import { NodeLifecycle } from "../nodes/node-lifecycle.ts";
import { PodCollector } from "../nodes/pod-collector.ts";
import { Scheduler } from "../scheduler/scheduler.ts";
import { later } from "./later.ts";

const planned = new Error("planned");

afterEach(() => vi.restoreAllMocks());

it("what throws is told, and what it has left half-done is put right", () => {
  const told: unknown[] = [];
  const kernel = new Kernel({ seed: "later", caught: ({ cause }, what) => told.push([cause, what]) });
  const failed = vi.fn<() => void>();
  const throws = (): void => {
    throw planned;
  };
  const process = kernel.process("controllers");
  const done = vi.fn<() => void>();
  kernel.enter(process, () => {
    later(process, 1, throws, failed);
    later(process, 2, done);
    later(process, 3, throws)();
  });
  kernel.run(10);
  expect(told).toEqual([[planned, "later work of a controller"]]);
  expect([failed.mock.calls.length, done.mock.calls.length]).toEqual([1, 1]);
});

it("in a simulation it fails the run", () => {
  const kernel = new Kernel({ seed: "later" });
  const process = kernel.process("controllers");
  kernel.enter(process, () =>
    later(process, 1, () => {
      throw planned;
    }),
  );
  expect(() => kernel.run(10)).toThrow(ProcessError);
});

/** Methods that timers of controllers call, at once or after an answer. */
const methods: readonly (readonly [holder: { readonly prototype: object }, method: string])[] = [
  [NodeLifecycle, "monitorAll"],
  [NodeLifecycle, "silence"],
  [NodeLifecycle, "evict"],
  [PodCollector, "collectTerminated"],
  [PodCollector, "collectOrphaned"],
  [Scheduler, "schedule"],
  [ApiTypes, "ask"],
];

it.each(methods.map(([holder, method]) => [(holder as unknown as { name: string }).name, method, holder] as const))(
  "%s.%s may throw: nodes are watched, pods placed and collected all the same",
  (_, method, holder) => {
    const prototype = holder.prototype as Record<string, (...given: unknown[]) => unknown>;
    const failures: ProcessError[] = [];
    const cluster = new ClusterBed({ nodes: 2, binder: "scheduler", caught: (failure) => failures.push(failure) });
    vi.spyOn(prototype, method).mockImplementationOnce(() => {
      throw planned;
    });
    cluster.make(`${apps}/deployments`, deploymentOf("shop", 4));
    if (method === "ask") cluster.make(definitions, definition);
    cluster.advance(60);
    expect(cluster.pods().filter(({ spec }) => (spec.nodeName ?? "") !== "")).toHaveLength(4);
    cluster.silent.add("node-0");
    cluster.advance(90);
    expect(failures.map(({ cause }) => cause)).toEqual([planned]);
    const { conditions } = cluster.get("/api/v1/nodes/node-0")["status"] as never as {
      conditions: { status: string }[];
    };
    expect(conditions[0]?.status).toBe("Unknown");
  },
);

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const definition = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};
