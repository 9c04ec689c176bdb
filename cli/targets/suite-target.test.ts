import { rmSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { cleanUp, scratchFile } from "../spawned-command.fixture.ts";
import { addressOf } from "./suite-target.ts";

afterAll(cleanUp);

const connection = { insecureSkipTlsVerify: false };

it("the address of a target is where it is, also when a connection file says so", () => {
  const document = {
    clusters: [{ name: "near", cluster: { server: "https://10.0.0.1:6443/k8s/" } }],
    contexts: [{ name: "here", context: { cluster: "near" } }],
    "current-context": "here",
  };
  const svcconfig = scratchFile("config.yaml", JSON.stringify(document));
  expect(addressOf({ kind: "url", url: undefined, connection: { ...connection, svcconfig } })).toEqual({
    kind: "url",
    address: "https://10.0.0.1:6443/k8s",
  });
  expect(addressOf({ kind: "url", url: "http://127.0.0.1:8001", connection }).address).toBe("http://127.0.0.1:8001");
  expect(addressOf({ kind: "embedded", details: { seed: 1, faults: [], featureGates: {} } }).address).toBe("$SERVER");
});

it("reads what says so once, as a pipe can be read", () => {
  const tokenFile = scratchFile("token-once", "secret\n");
  const target = { kind: "url", url: "http://127.0.0.1:8001", connection: { ...connection, tokenFile } } as const;
  expect(addressOf(target).address).toBe("http://127.0.0.1:8001");
  rmSync(tokenFile);
  expect(addressOf(target).address).toBe("http://127.0.0.1:8001");
  expect(() => addressOf({ ...target, connection: { ...target.connection } })).toThrow("token-once");
});
