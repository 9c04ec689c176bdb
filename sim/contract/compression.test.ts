import { expect, it } from "vitest";
import { shouldCompress } from "./compression.ts";
import type { ApiRequest } from "./http-message.ts";
import { kubernetesProfile, type Profile, svcProfile } from "./profile.ts";

const request = (method: string, coding?: string): ApiRequest => ({
  method,
  path: "/",
  query: "",
  headers: coding === undefined ? {} : { "accept-encoding": coding },
});

const without = (profile: Profile): Profile => ({
  ...profile,
  featureGates: { ...profile.featureGates, APIResponseCompression: false },
});

it.each<[Profile, string, string | undefined, number, number, boolean]>([
  [svcProfile, "GET", "gzip", 200, 10, true],
  [svcProfile, "GET", "deflate, gzip", 200, 10, true],
  [svcProfile, "GET", "gzip;q=1", 200, 10, false],
  [svcProfile, "GET", undefined, 200, 10, false],
  [svcProfile, "POST", "gzip", 201, 200_000, false],
  [svcProfile, "GET", "gzip", 404, 10, false],
  [without(svcProfile), "GET", "gzip", 200, 10, false],
  [kubernetesProfile, "GET", "gzip", 200, 131_072, false],
  [kubernetesProfile, "GET", "gzip", 200, 131_073, true],
  [kubernetesProfile, "POST", "gzip", 201, 131_073, true],
  [kubernetesProfile, "GET", "identity", 200, 131_073, false],
  [without(kubernetesProfile), "GET", "gzip", 200, 131_073, false],
])("$0.name: $1 with $2, status $3, $4 bytes: $5", (profile, method, coding, status, bytes, expected) => {
  expect(shouldCompress(profile, request(method, coding), status, bytes)).toBe(expected);
});
