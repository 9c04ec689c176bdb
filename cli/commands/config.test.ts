import { afterAll, expect, test } from "vitest";
import { saidHere } from "../said-here.fixture.ts";
import { cleanUp, scratchFile, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const good = scratchFile("good.yaml", "apiVersion: apiserver.svc.io/v1beta1\nkind: TracingConfiguration\n");
const bad = scratchFile(
  "bad.yaml",
  "apiVersion: apiserver.svc.io/v1beta1\nkind: TracingConfiguration\nrate: 1\nendpoint: 5\n",
);

test("a good file is explained", async () => {
  const { code, stdout } = await start("config", "check", good).ended; // a process: the others only come to an answer
  expect(code).toBe(0);
  expect(stdout).toContain("localhost:4317");
});

test("of a bad one everything that is wrong is told, with its place", async () => {
  const { code, stdout } = await saidHere("config", "check", good, bad, "--json");
  expect(code).toBe(2);
  const { files } = JSON.parse(stdout) as { files: { valid: boolean; problems?: { field: string }[] }[] };
  expect(files.map(({ valid }) => valid)).toEqual([true, false]);
  expect(files[1]?.problems?.map(({ field }) => field).sort()).toEqual(["endpoint", "rate"]);
});

test("unknown fields are told beside what else is wrong, all amounts in one unit, and never more than anybody reads", async () => {
  const agent = scratchFile(
    "agent.yaml",
    "apiVersion: nodeagent.config.svc.io/v1beta1\nkind: NodeAgentConfiguration\nmaxPodz: 5\nmaxPods: lots\n",
  );
  const { code, stdout } = await saidHere("config", "check", agent);
  expect(code).toBe(2);
  expect(stdout).toContain("maxPods: must be an integer");
  expect(stdout).toContain('Warning: unknown field "maxPodz": it is left out; did you mean maxPods?');
  const old = scratchFile("old.yaml", "apiVersion: apiserver.svc.io/v0\nkind: TracingConfiguration\nrate: 1\n");
  const told = await saidHere("config", "check", old);
  expect(told.stdout).toContain("apiVersion: ");
  expect(told.stdout).toContain('unknown field "rate"');
  const many = Array.from({ length: 1_000 }, (_, at) => `k${at}: 1\n`).join("");
  const much = await saidHere(
    "config",
    "check",
    scratchFile("much.yaml", `apiVersion: apiserver.svc.io/v0\nkind: TracingConfiguration\n${many}`),
  );
  expect(much.stdout.split("\n").length).toBeLessThan(30);
  const reserved = await saidHere("config", "check", "--agent-flags", "--system-reserved=memory=3000M");
  expect(reserved.stdout).toMatch(/Of 16Gi memory pods can be given \d+\.\d+Gi \(\d+ bytes\)\./);
});

test("a schema is JSON", async () => {
  const { code, stdout } = await saidHere("config", "schema", "TracingConfiguration");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ title: "TracingConfiguration" });
});

const authentication = `
apiVersion: apiserver.svc.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer: { url: "https://issuer.test", audiences: [a] }
  claimMappings: { username: { claim: sub, prefix: "idp:" } }
  userValidationRules: [{ expression: "user.username != 'idp:root'", message: not root }]
`;
const authorization = `
apiVersion: apiserver.svc.io/v1beta1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: gate
  webhook:
    timeout: 3s
    authorizedTTL: 5m
    unauthorizedTTL: 30s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: { type: InClusterConfig }
    matchConditions: [{ expression: "request.resourceAttributes.resource == 'pods'" }]
- { type: RBAC, name: roles }
`;

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = (claims: object): string => {
  const all = { iss: "https://issuer.test", aud: "a", exp: 4_000_000_000, ...claims };
  return `${part({ alg: "RS256", kid: "k" })}.${part(all)}.AAAA`;
};

test("what a token would come to", async () => {
  const path = scratchFile("authentication.yaml", authentication);
  const good = await saidHere("config", "check", path, "--token", scratchFile("good.jwt", token({ sub: "jane" })));
  expect(good.code).toBe(0);
  expect(good.stdout).toContain('{"username":"idp:jane","groups":["system:authenticated"]}');
  expect(good.stdout).toContain("nobody was called here");
  const root = await saidHere("config", "check", path, "--token", scratchFile("root.jwt", token({ sub: "root" })));
  expect(root.stdout).toContain('the caller is told "not root"');
});

test("who would be asked about a request", async () => {
  const check = [
    "config",
    "check",
    scratchFile("authorization.yaml", authorization),
    "--as",
    "jane",
    "--verb",
    "get",
  ] as const;
  const pods = await saidHere(...check, "--resource", "pods", "--namespace", "ns");
  expect(pods.stdout).toContain("gate: is asked");
  expect(pods.stdout).toContain(
    '"resourceAttributes":{"namespace":"ns","verb":"get","version":"v1","resource":"pods"}',
  );
  const secrets = await saidHere(...check, "--resource", "secrets");
  expect(secrets.stdout).toContain("gate: is not asked: a match condition is false.");
  expect(await saidHere(...check)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--resource or --path"),
  });
});

test("an agent that is started with flags is explained on a machine, or all that is wrong with them is told", async () => {
  const flags = "--eviction-hard=memory.available<25% --system-reserved=memory=1Gi";
  const good = await saidHere("config", "check", "--agent-flags", flags, "--memory", "8Gi");
  expect([good.code, good.stderr]).toEqual([0, ""]);
  expect(good.stdout).toContain("memory.available is below 2Gi of 8Gi.");
  expect(good.stdout).toContain("Of 8Gi memory pods can be given 5Gi.");
  const bad = await saidHere("config", "check", "--agent-flags", "--port=0 --max-pods=-1");
  expect(bad.code).toBe(2);
  expect(bad.stdout).toMatch(/--max-pods[^]*--port|--port[^]*--max-pods/);
  const open = await saidHere("config", "check", "--agent-flags", "--node-labels='a=b --max-pods=7");
  expect([open.code, open.stderr.includes("close the quote that begins with '")]).toEqual([2, true]);
  expect((await saidHere("config", "check")).stderr).toContain("needs a file, or --agent-flags");
});
