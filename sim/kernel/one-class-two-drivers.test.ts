import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { httpEndpoint } from "../http/fixtures/http-endpoint.fixture.ts";
import { wallPorts } from "../http/wall.ts";
import { linkedEndpoint } from "../network/linked-endpoint.ts";
import { Address, Network } from "../network/network.ts";
import { leaseDesk } from "./fixtures/lease-desk.fixture.ts";
import { LeaseRenewer, type LeaseRequest, type LeaseResponse } from "./fixtures/lease-renewer.fixture.ts";
import { Kernel } from "./kernel.ts";
import type { Endpoint } from "./types.ts";
import { WallDriver } from "./wall-driver.ts";

describe("one component class", () => {
  it("runs on virtual time, over a simulated link", () => {
    const history = (): string => {
      const kernel = new Kernel({ seed: "5" });
      const network = new Network(kernel.process("network"), {
        rules: [{ from: "*", to: "*", latencyMicros: { min: 5000, max: 20_000 } }],
      });
      const server = kernel.process("lease-server");
      const address = new Address<Endpoint<LeaseRequest, LeaseResponse>>("leases");
      address.listen(server, leaseDesk(server, { workMicros: 1000, refuseEvery: 3 }));
      const client = kernel.process("node-1");
      const renewer = new LeaseRenewer(client, linkedEndpoint(network, client, address), {
        intervalMicros: 10_000_000,
        jitterMicrosMax: 400_000,
        deadlineMicros: 5_000_000,
      });
      renewer.renew();
      kernel.run(3_600_000_000);
      expect(renewer.granted + renewer.failed).toBeGreaterThan(340);
      expect(renewer.failed).toBe(Math.floor((renewer.granted + renewer.failed) / 3));

      network.partition("node-1", "leases");
      const { granted, failed } = renewer;
      kernel.run(3_660_000_000);
      expect(renewer.granted).toBe(granted);
      expect(renewer.failed).toBeGreaterThan(failed);
      return kernel.trace.hash();
    };
    expect(history()).toBe(history());
  });

  it("runs on wall time, over HTTP to a second process that is served by the same kernel code", async () => {
    const fixture = fileURLToPath(new URL("../http/fixtures/lease-server.fixture.ts", import.meta.url));
    const child = spawn(process.execPath, [fixture], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const kernel = new Kernel({ seed: "5" });
      const errors: unknown[] = [];
      const driver = new WallDriver(kernel, wallPorts, { onError: (error) => void errors.push(error) });
      const client = kernel.process("node-1");
      const endpoint = httpEndpoint<LeaseRequest, LeaseResponse>(`http://127.0.0.1:${port}/`, driver, client);
      const renewer = new LeaseRenewer(client, endpoint, {
        intervalMicros: 2000,
        jitterMicrosMax: 1000,
        deadlineMicros: 30_000_000,
      });
      driver.enter(client, () => renewer.renew());
      while (renewer.granted + renewer.failed < 12) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(renewer.failed).toBe(Math.floor((renewer.granted + renewer.failed) / 3));
      expect(kernel.nowMicros()).toBeGreaterThan(12 * 2000);

      driver.enter(client, () => client.crash());
      const { granted } = renewer;
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect([renewer.granted, kernel.pendingCount]).toEqual([granted, 0]);
      expect(errors).toEqual([]);
      driver.stop();
    } finally {
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    }
  });
});
