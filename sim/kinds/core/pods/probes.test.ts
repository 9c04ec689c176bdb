import { expect, it } from "vitest";
import { containerCauses } from "./pods.fixture.ts";

it("A probe has one handler, and its counts are not negative; zeros take the defaults", () => {
  const httpGet = { port: 80, path: "", scheme: "" };
  expect(containerCauses({ livenessProbe: { httpGet, periodSeconds: 0, successThreshold: 0 } })).toEqual([]);
  expect(containerCauses({ livenessProbe: { httpGet, tcpSocket: { port: 1 }, periodSeconds: -1 } })).toEqual([
    "livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
    "livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
  ]);
  expect(containerCauses({ readinessProbe: {}, startupProbe: { exec: {} } })).toEqual([
    "readinessProbe: Required value: must specify a handler type",
    "startupProbe.exec.command: Required value",
  ]);
});

it("What a probe asks is somewhere to be asked", () => {
  const port = 'Invalid value: "UP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
  expect(containerCauses({ livenessProbe: { tcpSocket: { port: "UP" } } })[0]).toBe(
    `livenessProbe.tcpSocket.port: ${port}`,
  );
  expect(containerCauses({ livenessProbe: { grpc: { port: 0 } } })).toEqual([
    "livenessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive",
  ]);
  const httpGet = { port: 80, scheme: "FTP", httpHeaders: [{ name: "a b", value: "" }] };
  expect(containerCauses({ readinessProbe: { httpGet } })).toEqual([
    'readinessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
    expect.stringContaining('readinessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header'),
  ]);
});

it("One success proves a container alive, and readiness ends nobody", () => {
  const exec = { command: ["true"] };
  expect(containerCauses({ livenessProbe: { exec, successThreshold: 2, terminationGracePeriodSeconds: 0 } })).toEqual([
    "livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
    "livenessProbe.successThreshold: Invalid value: 2: must be 1",
  ]);
  expect(containerCauses({ readinessProbe: { exec, successThreshold: 2, terminationGracePeriodSeconds: 1 } })).toEqual([
    "readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes",
  ]);
});

it("A hook sleeps no longer than the pod may take to end", () => {
  const sleeping = (seconds: number): readonly string[] =>
    containerCauses({ lifecycle: { preStop: { sleep: { seconds } } } }, { terminationGracePeriodSeconds: 9 });
  expect(sleeping(9)).toEqual([]);
  expect(sleeping(10)).toEqual([
    "lifecycle.preStop.sleep: Invalid value: 10: must be non-negative and less than terminationGracePeriodSeconds (9)",
  ]);
});
