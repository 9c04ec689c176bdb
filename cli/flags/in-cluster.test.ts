import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { kubernetesDialect, svcDialect } from "../../wire/dialect.ts";
import { pairFor } from "../../sim/http/egress/proxies.fixture.ts";
import { inClusterTarget } from "./in-cluster.ts";

const root = mkdtempSync(join(tmpdir(), "in-cluster-"));
afterAll(() => rmSync(root, { recursive: true }));

const { certificate } = pairFor("127.0.0.1");
const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };

test("outside of a pod it is told what a pod would have", () => {
  expect(() => inClusterTarget(svcDialect, "v1", { environment: {}, root })).toThrow("SVC_SERVICE_HOST");
  expect(() => inClusterTarget(kubernetesDialect, "v1", { environment, root })).toThrow("ca.crt");
});

test("in a pod it is the cluster's server, with the mounted authority and token", () => {
  const folder = join(root, "var/run/secrets/kubernetes.io/serviceaccount");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "ca.crt"), certificate);
  expect(() => inClusterTarget(kubernetesDialect, "v1", { environment, root })).toThrow("token");
  writeFileSync(join(folder, "token"), "abc\n");
  expect(inClusterTarget(kubernetesDialect, "v1beta1", { environment, root })).toMatchObject({
    url: "https://[fd00::1]:443/apis/authorization.k8s.io/v1beta1/subjectaccessreviews",
    authority: certificate,
    insecureSkipTlsVerify: false,
    token: "abc",
  });
});
