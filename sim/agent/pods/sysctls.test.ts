import { expect, it } from "vitest";
import { forbiddenSysctl } from "./sysctls.ts";

const asked = (name: string, spec: object = {}) =>
  ({
    object: {
      metadata: { name: "p", uid: "1" },
      spec: { containers: [], securityContext: { sysctls: [{ name, value: "1" }] }, ...spec },
    },
  }) as never;
const refused = (name: string, allowed: readonly string[] = [], spec: object = {}): string | undefined =>
  forbiddenSysctl(asked(name, spec), allowed)?.message;

it("safe settings are every pod's, others those of the list, by name or by pattern", () => {
  expect(refused("net.ipv4.tcp_syncookies")).toBe(undefined);
  expect(refused("net/ipv4/tcp_syncookies")).toBe(undefined);
  expect(forbiddenSysctl(asked("kernel.msgmax"), [])).toEqual({
    reason: "SysctlForbidden",
    message: 'forbidden sysctl: "kernel.msgmax" not allowlisted',
  });
  expect(refused("kernel.msgmax", ["kernel.msg*"])).toBe(undefined);
  expect(refused("kernel.shmmax", ["kernel.msg*", "kernel.shm"])).toContain("not allowlisted");
});

it("what a pod shares with the machine it may not set", () => {
  expect(refused("net.core.somaxconn", ["net.*"], { hostNetwork: true })).toContain("host net");
  expect(refused("kernel.shm_rmid_forced", [], { hostIPC: true })).toContain("host ipc");
  expect(refused("kernel.shm_rmid_forced", [], { hostNetwork: true })).toBe(undefined);
});
