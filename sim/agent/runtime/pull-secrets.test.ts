import { describe, expect, it } from "vitest";
import { encodeBase64 } from "../../../wire/base64.ts";
import { SimulatedRuntime } from "../../runtime/runtime.ts";
import { AgentWorld } from "../agent-world.fixture.ts";
import { imageMatches } from "./image-names.ts";
import { credentialsFor } from "./pull-secrets.ts";

const encoded = (value: unknown): string => encodeBase64(new TextEncoder().encode(JSON.stringify(value)));
const someone = { username: "u", password: "p" };

describe("credentials of registries", () => {
  it.each<[image: string, fitting: readonly string[]]>([
    ["registry.example/team/app:1", ["registry.example/team", "registry.example", "*.example"]],
    ["registry.example/other:1", ["registry.example", "*.example"]],
    ["registry.example:5000/app", ["registry.example:5000"]],
    ["app", ["index.docker.io"]],
    ["docker.io/library/app", ["index.docker.io"]],
    ["elsewhere.test/app", []],
  ])("of %s", (image, fitting) => {
    const places = [
      "*.example",
      "index.docker.io",
      "registry.example",
      "registry.example/team",
      "registry.example:5000",
    ];
    const entries = places.map((place) => [place, { username: place, password: "" }] as const);
    expect(credentialsFor(image, { entries, missing: [] }).map(({ username }) => username)).toEqual(fitting);
  });

  it("are found at no great cost, whatever pattern somebody has written", () => {
    expect(imageMatches(`${"*a".repeat(10_000)}.example`, `${"a".repeat(20_000)}b.example/x`)).toBe(false);
    expect(imageMatches(`${"*a".repeat(10_000)}.example`, `${"a".repeat(20_000)}.example/x`)).toBe(true);
  });
});

/** An agent whose registry gives its image to one user. */
function world(): AgentWorld {
  const images = [{ name: "registry.example/app:1", shell: true, credentials: someone }];
  let machine: SimulatedRuntime | undefined;
  const w = new AgentWorld({}, 700_000, {
    around: (_inner, process) => (machine ??= new SimulatedRuntime(process, { images })),
  });
  w.run(3);
  return w;
}

function create(w: AgentWorld, name: string): void {
  const containers = [{ name: "c", image: "registry.example/app:1", command: ["sleep", "1000"] }];
  w.create(name, { containers, imagePullSecrets: [{ name: "own" }] });
}

function secret(w: AgentWorld, type: string, data: object): void {
  const body = { apiVersion: "v1", kind: "Secret", metadata: { name: "own" }, type, data };
  const answer = w.bed.ask("POST /api/v1/namespaces/default/secrets", { as: "admin", body });
  if (answer.status !== 201) throw new Error(answer.text);
}

describe("a pod's secrets for its images", () => {
  it.each<[type: string, key: string, content: object]>([
    ["kubernetes.io/dockerconfigjson", ".dockerconfigjson", { auths: { "https://registry.example/v1/": someone } }],
    ["kubernetes.io/dockerconfigjson", ".dockerconfigjson", { auths: { "*.example": { auth: btoa("u:p") } } }],
    ["kubernetes.io/dockercfg", ".dockercfg", { "registry.example": { ...someone, email: "x" } }],
  ])("of type %s let them be pulled", (type, key, content) => {
    const w = world();
    secret(w, type, { [key]: encoded(content) });
    create(w, "a");
    w.run(10);
    expect(w.status("a")).toMatchObject({ phase: "Running" });
  });

  it("are told of when they are missing, and taken once they are there", () => {
    const w = world();
    create(w, "a");
    w.run(10);
    expect(w.status("a")["containerStatuses"]).toMatchObject([
      { state: { waiting: { message: expect.stringContaining("pull access denied") as string } } },
    ]);
    expect(w.events("a").join("\n")).toContain(
      "FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (own); attempting to pull the image may not succeed.",
    );
    const content = { auths: { "registry.example": someone } };
    secret(w, "kubernetes.io/dockerconfigjson", { ".dockerconfigjson": encoded(content) });
    w.run(60);
    expect(w.status("a")).toMatchObject({ phase: "Running" });
  });

  it("that fit nothing, or are nobody's, pull as nobody", () => {
    for (const content of [{ auths: { "other.example": someone } }, { auths: [1] }, "text"]) {
      const w = world();
      secret(w, "Opaque", { ".dockerconfigjson": encoded(content) });
      create(w, "a");
      w.run(10);
      expect(w.status("a")).toMatchObject({ phase: "Pending" });
    }
  });
});
