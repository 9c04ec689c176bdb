import { expect, it } from "vitest";
import type { Pod } from "../shared/stored.ts";
import { type Service, servingPods } from "./service-endpoints.ts";

const pod = (name: string, ports: readonly object[]): Pod =>
  ({
    metadata: { name, namespace: "default", uid: name, labels: { app: "shop" } },
    spec: { containers: [{ name: "c", ports }] },
    status: { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
  }) as unknown as Pod;

it("finds ports that are given by name at each pod, and gives pods that have the same one list", () => {
  const service = {
    metadata: { name: "shop", namespace: "default" },
    spec: {
      selector: { app: "shop" },
      ports: [
        { name: "number", port: 80, targetPort: 8080 },
        { name: "web", port: 81, targetPort: "web" },
        { name: "same", port: 82 },
        { name: "dns", port: 53, protocol: "UDP", targetPort: "web" },
      ],
    },
  } as unknown as Service;
  const web = (containerPort: number, protocol?: string): object => ({ name: "web", containerPort, protocol });
  const pods = [
    pod("a", [web(1), web(2, "UDP")]),
    pod("b", [web(3)]),
    pod("c", [web(2, "UDP"), web(1)]),
    pod("d", []),
    pod("e", [web(3, "UDP")]),
  ];
  const lists = servingPods(service, pods).map(({ ports }) => ports);
  expect(lists.map((ports) => ports.map(({ name, port, protocol }) => `${name} ${port} ${protocol}`))).toEqual([
    ["number 8080 TCP", "web 1 TCP", "same 82 TCP", "dns 2 UDP"],
    ["number 8080 TCP", "web 3 TCP", "same 82 TCP"],
    ["number 8080 TCP", "web 1 TCP", "same 82 TCP", "dns 2 UDP"],
    ["number 8080 TCP", "same 82 TCP"],
    ["number 8080 TCP", "same 82 TCP", "dns 3 UDP"],
  ]);
  expect(lists[0]).toBe(lists[2]);
  expect(new Set(lists).size).toBe(4);
});
