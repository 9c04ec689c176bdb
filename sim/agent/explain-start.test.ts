import { expect, it } from "vitest";
import { dialects } from "../../wire/dialect.ts";
import { readAgentCommand } from "../configuration/agent/command-line.ts";
import { explainStart, type ExplainedStart } from "./explain-start.ts";

const gibibyte = 1024 ** 3;
const machine = {
  milliCpu: 4000,
  memoryBytes: 16 * gibibyte,
  diskBytes: 100 * gibibyte,
  inodes: 1_000_000,
  pids: 32_768,
  imageDiskBytes: undefined,
};

function told(flags: readonly string[], changes: Partial<typeof machine> = {}): ExplainedStart {
  const files = { read: () => ({ error: "none" }), list: () => ({ error: "none" }), environment: {} };
  const command = readAgentCommand(flags, dialects.svc, files);
  if (command.is !== "settings") throw new Error(JSON.stringify(command));
  return explainStart(command.settings, { ...machine, ...changes });
}
const text = (...given: Parameters<typeof told>): string => told(...given).sentences.join("\n");

it("thresholds are amounts of the machine, with what is to be free again", () => {
  const flags = [
    "--eviction-hard=memory.available<10%,nodefs.available<10Gi",
    "--eviction-soft=memory.available<25%",
    "--eviction-soft-grace-period=memory.available=90s",
    "--eviction-minimum-reclaim=nodefs.available=1Gi",
  ];
  const said = text(flags);
  const percent = Math.trunc(machine.memoryBytes * Math.fround(Math.fround(10) / 100));
  expect(said).toContain(`at once where memory.available is below 1.6Gi (${percent} bytes) of 16Gi.`);
  expect(text(["--eviction-hard=memory.available<100Mi"])).toContain("is below 0.098Gi (100Mi) of 16Gi.");
  expect(said).toContain(`after 1m30s where memory.available is below 4Gi of 16Gi`);
  expect(said).toContain("nodefs.available is below 10Gi of 100Gi, until there are 11Gi.");
  expect(text(["--eviction-hard="])).toContain("No pods are evicted");
  expect(text(["--eviction-hard=imagefs.available<50%"], { imageDiskBytes: undefined })).toContain(
    "is below 50Gi of 100Gi",
  );
});

it("reservations are taken from what pods can be given; too much of them is no start", () => {
  const flags = [
    "--system-reserved=memory=1Gi,cpu=500m",
    "--svc-reserved=memory=1Gi",
    "--eviction-hard=memory.available<1Gi",
  ];
  expect(text(flags)).toContain("Of 16Gi memory pods can be given 13Gi.");
  expect(text(flags)).toContain("Of 4 cpu pods can be given 3.5.");
  expect(text(["--max-pods=30"])).toContain("It takes 30 pods.");
  const over = told(flags, { memoryBytes: 2 * gibibyte });
  expect(over).toEqual({
    ok: false,
    sentences: [expect.stringContaining('Resource "memory" has a reservation of 3Gi but capacity of 2Gi')],
  });
});

it("says where it serves, and who may call", () => {
  expect(text([])).toContain("Whoever says nothing is system:anonymous.");
  expect(text([])).toContain("may do everything");
  const closed = [
    "--svcconfig=a",
    "--anonymous-auth=false",
    "--authentication-token-webhook",
    "--authorization-mode=Webhook",
  ];
  const said = text([...closed, "--client-ca-file=ca.pem", "--read-only-port=0", "--healthz-port=0"]);
  for (const part of [
    "ca.pem has signed",
    "believed for 2m0s",
    "refused (401)",
    "a yes is believed for 5m0s, a no for 30s",
    "no read-only port",
    "health nowhere",
  ])
    expect(said).toContain(part);
  expect(text(["--enable-server=false"])).not.toContain("system:anonymous");
});
